// The small parts of the SM's memory side: queue of pieces, store buffer, write policies of the
// L1D, and the rules between their keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/const_cache.h"
#include "raddle/timing/cache/l1d.h"
#include "raddle/timing/cache/store_buffer.h"
#include "raddle/timing/sm/piece_queue.h"
#include "support/machines.h"

namespace raddle::l1_parts_test {
namespace {

using timing::MachineSpec;
using timing::StoreBuffer;
using timing::TransactionQueue;
using timing::WritePolicy;
using Taken = StoreBuffer::Taken;

TEST(TransactionQueue, IsAFifoWhateverTheLengths) {
  constexpr unsigned kInstructions = 3;
  TransactionQueue queue(kInstructions);
  std::deque<unsigned> lengths;
  std::deque<std::uint32_t> model;
  Rng rng(5);
  std::uint32_t next = 0;
  for (unsigned step = 0; step < 5000; ++step) {
    if (lengths.size() < kInstructions && rng.below(2) == 0) {
      const unsigned n = 1 + rng.below(trace::kMaxTransactions);
      std::vector<std::uint32_t> payload;
      for (unsigned i = 0; i < n; ++i, ++next) {
        payload.insert(payload.end(), {next, ~next, next * 3});
        model.push_back(next);
      }
      queue.push(payload.data(), n);
      lengths.push_back(n);
    } else if (!lengths.empty()) {
      for (; lengths.front() > 0; --lengths.front(), model.pop_front()) {
        const trace::Transaction transaction = queue.pop();
        ASSERT_EQ(transaction.line, model.front());
        if (lengths.front() > 1) {
          ASSERT_EQ(queue.next().line, model[1]);
        }
        ASSERT_EQ(transaction.words, ~model.front());
        ASSERT_EQ(transaction.lanes, model.front() * 3);
      }
      lengths.pop_front();
    }
  }
}

TEST(StoreBuffer, OldestFirstAndOneEntryForALineUntilItLeaves) {
  StoreBuffer b(3);
  EXPECT_EQ(b.put(10, 1, 4, 0), Taken::Fresh);
  EXPECT_EQ(b.put(20, 1, 4, 1), Taken::Fresh);
  EXPECT_EQ(b.put(10, 2, 5, 2), Taken::Combined);
  EXPECT_EQ(b.put(10, 4, 4, 0), Taken::AlreadyWaitedFor);
  const StoreBuffer::OutgoingRequest first = b.send();
  EXPECT_EQ(first.line, 10u);
  EXPECT_EQ(first.parts, 7);
  EXPECT_EQ(first.kernel, 0) << "of the first store";
  EXPECT_EQ(b.put(10, 1, 4, 0), Taken::Fresh) << "the former entry has left";
  EXPECT_TRUE(b.full());
  EXPECT_FALSE(b.takes(30));
  EXPECT_TRUE(b.takes(20));
  std::vector<unsigned> warps;
  b.acknowledge(first.entry, [&](unsigned w) { warps.push_back(w); });
  EXPECT_EQ(warps, (std::vector<unsigned>{4, 5}));
  EXPECT_TRUE(b.takes(30));
  EXPECT_EQ(b.send().line, 20u);
  EXPECT_FALSE(b.empty()) << "two are held or wait";
}

TEST(StoreBuffer, PartsMayBeAcknowledgedOneByOneAndBeWaitedForByOthers) {
  StoreBuffer b(2);
  b.put(10, 0b1110, 4, 0);
  const unsigned entry = b.send().entry;
  b.put(10, 0b0001, 4, 0);
  EXPECT_EQ(b.under_way(10), 0b1111);
  bool known = true;
  EXPECT_FALSE(b.join(10, 0b0011, 5, known)) << "no entry has both";
  EXPECT_FALSE(b.join(11, 0b0010, 5, known));
  EXPECT_TRUE(b.join(10, 0b0110, 5, known));
  EXPECT_FALSE(known);
  EXPECT_TRUE(b.join(10, 0b0010, 5, known));
  EXPECT_TRUE(known) << "it waits for that entry already";
  std::vector<unsigned> warps;
  const auto notified = [&](unsigned w) { warps.push_back(w); };
  EXPECT_FALSE(b.acknowledge(entry, 0b0110, notified));
  EXPECT_EQ(warps, std::vector<unsigned>{});
  EXPECT_EQ(b.under_way(10), 0b1001);
  EXPECT_TRUE(b.acknowledge(entry, 0b1000, notified));
  EXPECT_EQ(warps, (std::vector<unsigned>{4, 5}));
  EXPECT_EQ(b.under_way(10), 0b0001);
  EXPECT_FALSE(b.full());
}

TEST(StoreBuffer, OfNoEntriesIsAbsent) {
  StoreBuffer none(0);
  EXPECT_FALSE(none.present());
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.any_waiting());
}

// A write-validate cache against a plain model of lines with dirty sectors, oldest first.
TEST(L1dWriteValidate, WriteBacksAgreeWithAListModel) {
  timing::L1dSpec spec;
  spec.size_kib = 2;
  spec.ways = 4;
  spec.write_policy = WritePolicy::WriteValidate;  // 4 sets
  timing::L1d cache(spec);
  struct Line {
    std::uint32_t line;
    std::uint8_t dirty;
  };
  std::map<std::uint32_t, std::vector<Line>> sets;
  stats::SmCounters count;
  Rng rng(3);
  for (Cycle now = 0; now < 20000; ++now) {
    const std::uint32_t line = rng.below(40);
    const auto sectors = static_cast<std::uint8_t>(1 + rng.below(15));
    auto& set = sets[line % 4];
    auto at = std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.line == line; });
    Line mine{line, 0}, out{0, 0};
    if (at != set.end()) {
      mine = *at;
      set.erase(at);
    } else if (set.size() == 4) {
      out = set.front();
      set.erase(set.begin());
    }
    mine.dirty |= sectors;
    set.push_back(mine);
    ASSERT_EQ(cache.store(now, {line, sectors, 0, 0}, 0, false, true, count).outcome,
              timing::L1d::Outcome::Hit);
    ASSERT_EQ(cache.write_backs().empty(), out.dirty == 0) << now;
    if (out.dirty == 0) continue;
    EXPECT_EQ(cache.write_backs().front().line, out.line);
    EXPECT_EQ(cache.write_backs().front().sectors, out.dirty);
    cache.write_backs().pop();
  }
  std::size_t lines = 0;
  for (const auto& [index, set] : sets) lines += set.size();
  cache.flush(0, 0);
  EXPECT_EQ(cache.write_backs().size(), lines);
}

TEST(ConstCache, LinesOfABankDoNotMeetThoseOfAnother) {
  MachineSpec m = support::small_machine();
  m.sm.const_cache = {1, 64, 16, 2, 2};
  timing::ConstCache<int> cache(m);
  using Outcome = timing::ConstCache<int>::Outcome;
  auto bring = [&](unsigned kernel) {
    const auto a = cache.load(kernel, 0, true, 1);
    EXPECT_EQ(a.outcome, Outcome::Miss);
    cache.fill(a.request.tag, [](int) {});
    return a.request.line;
  };
  EXPECT_EQ(bring(1) - bring(0), 65536u / m.l2.line_bytes);
  cache.forget(0);
  EXPECT_EQ(cache.load(1, 8, true, 1).outcome, Outcome::Hit);
  EXPECT_EQ(cache.load(0, 0, false, 1).outcome, Outcome::CannotSend);
}

struct Rule {
  const char* says;
  void (*breaks)(MachineSpec&);
};

TEST(L1Rules, EachIsTold) {
  const Rule rules[] = {
      {"sm.const_cache.line_bytes must be a power of two, at most l2.line_bytes",
       [](MachineSpec& m) { m.sm.const_cache.line_bytes = 48; }},
      {"sm.const_cache.line_bytes must be a power of two, at most l2.line_bytes",
       [](MachineSpec& machine) {
         machine.sm.l1d.line_bytes = machine.l2.line_bytes = 64;
         machine.sm.const_cache.line_bytes = 128;
       }},
      {"sm.const_cache.size_kib must be a whole number of sets",
       [](MachineSpec& machine) {
         machine.sm.const_cache.size_kib = 2;
         machine.sm.const_cache.ways = 5;
       }},
      {"sm.l1d.store_buffer needs a cache",
       [](MachineSpec& machine) {
         machine.sm.l1d.size_kib = 0;
         machine.sm.l1d.store_buffer = 4;
       }},
  };
  for (const Rule& rule : rules) {
    MachineSpec machine = support::small_machine();
    rule.breaks(machine);
    const std::vector<std::string> notified = machine.violations();
    ASSERT_EQ(notified.size(), 1u) << rule.says;
    EXPECT_EQ(notified[0].rfind(rule.says, 0), 0u) << notified[0];
  }
  MachineSpec none = support::small_machine();
  none.sm.l1d.size_kib = 0;
  EXPECT_EQ(none.violations(), std::vector<std::string>{}) << "a machine without L1D is sound";
}

}  // namespace
}  // namespace raddle::l1_parts_test
