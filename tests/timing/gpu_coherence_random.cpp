// GPU coherence (L1D write_through, emptied when a kernel starts; atomics at the L2) under random
// programs without races, over a network that keeps the order of what one SM and the L2 say about
// one line and no other: every load must see what a memory without caches would give.
//
// A program is a row of kernels, as in denovo_random.cpp: in each, a word is read by everybody, or
// belongs to one warp of one SM, or is a counter that all add to at the L2. Data travel beside the
// requests. What the cache does not model, its data path, does as byte masks do: a line that comes
// leaves alone the words that the SM's own stores under way have written.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/l1d.h"
#include "raddle/timing/cache/store_buffer.h"

namespace raddle::test::gpu_coherence_random_test {
namespace {

using namespace timing;
using Outcome = L1d::Outcome;

constexpr unsigned kWords = 16, kWarps = 8, kLines = 40;
using LineData = std::array<std::uint64_t, kWords>;

/// What the tester leaves out, to see that it would be noticed.
enum class Fault : std::uint8_t { None, NoFlush, NoRelease };

class Tester {
 public:
  Tester(unsigned sms, std::uint64_t seed, Fault fault) : rng_(seed), fault_(fault) {
    L1dSpec spec;
    spec.size_kib = 1;
    spec.ways = 2;
    spec.line_bytes = spec.sector_bytes = 64;
    spec.mshr_entries = 4;
    spec.mshr_merges = 3;
    spec.store_buffer = 3;
    for (unsigned i = 0; i < sms; ++i) sm_.push_back(std::make_unique<Sm>(spec));
  }

  void run(std::uint64_t operations) {
    while (done_ < operations && stale_ == 0) {
      deal_roles();
      if (fault_ != Fault::NoFlush)
        for (auto& sm : sm_) sm->l1.flush(0, 0);
      for (std::uint64_t left = 20 + rng_.below(200); left != 0 || busy();) step(left);
    }
  }
  std::uint64_t stale() const { return stale_; }
  const std::map<std::string, std::uint64_t>& seen() const { return seen_; }

 private:
  struct Role {
    enum Kind : std::uint8_t { Shared, Mine, Counter } kind = Shared;
    unsigned sm = 0, warp = 0;
  };
  struct Operation {
    bool under_way = false;
    std::uint32_t line = 0;
    unsigned need = 0;  // words of a load that misses
  };
  struct Sm {
    explicit Sm(const L1dSpec& spec) : l1(spec), stores(spec.store_buffer) {}
    L1d l1;
    StoreBuffer stores;
    std::array<LineData, kLines> data{};   // of lines in the cache
    std::array<unsigned, kLines> dirty{};  // words of stores that the L2 has not acknowledged
    std::map<unsigned, unsigned> words;    // by entry of the store buffer
    std::array<Operation, kWarps> warp{};
    stats::SmCounters count;
  };
  enum class Kind : std::uint8_t { Read, Data, Store, Stored, Atomic, Added };
  struct Packet {
    Kind kind;
    unsigned sm, tag;
    std::uint32_t line;
    unsigned words = 0;
    LineData data{};
  };

  bool chance(unsigned one_in) { return rng_.below(one_in) == 0; }
  void deal_roles() {
    for (auto& line : role_) {
      const bool counters = chance(6);
      for (Role& r : line) {
        r.kind = counters && chance(2) ? Role::Counter : chance(3) ? Role::Shared : Role::Mine;
        r.sm = rng_.below(static_cast<std::uint32_t>(sm_.size()));
        r.warp = rng_.below(kWarps);
      }
    }
  }
  /// A kernel ends when its loads have their data and its stores are acknowledged.
  bool busy() const {
    for (const auto& sm : sm_) {
      for (const Operation& o : sm->warp)
        if (o.under_way) return true;
      if (fault_ != Fault::NoRelease && !sm->stores.empty()) return true;
    }
    return false;
  }
  void step(std::uint64_t& left) {
    const unsigned sm = rng_.below(static_cast<std::uint32_t>(sm_.size()));
    switch (rng_.below(5)) {
      case 0:
        if (left != 0) left -= issue(sm, rng_.below(kWarps));
        return;
      case 1:
        if (sm_[sm]->stores.any_waiting()) send_store(sm);
        return;
      default:
        deliver();
    }
  }

  // --- warps -------------------------------------------------------------------------------------
  bool issue(unsigned s, unsigned w) {
    Sm& sm = *sm_[s];
    if (sm.warp[w].under_way) return false;
    const std::uint32_t line = rng_.below(kLines);
    unsigned readable = 0, mine = 0, counters = 0;
    for (unsigned i = 0; i < kWords; ++i) {
      const Role& r = role_[line][i];
      const bool own = r.kind == Role::Mine && r.sm == s && r.warp == w;
      if (own) mine |= 1u << i;
      if (own || r.kind == Role::Shared) readable |= 1u << i;
      if (r.kind == Role::Counter) counters |= 1u << i;
    }
    const unsigned pick = static_cast<unsigned>(rng_.next()) & 0xffff;
    if ((counters & pick) != 0 && chance(3)) return atomic(s, w, line, counters & pick);
    if ((mine & pick) != 0 && chance(2)) return store(s, w, line, mine & pick);
    return (readable & pick) != 0 && load(s, w, line, readable & pick);
  }
  void begin(Operation& op, const Operation& as, const char* what) {
    op = as;
    ++done_;
    ++seen_[what];
  }
  bool load(unsigned s, unsigned w, std::uint32_t line, unsigned words) {
    Sm& sm = *sm_[s];
    const auto a = sm.l1.load(0, {line, 1, 0, static_cast<std::uint16_t>(w)}, true, sm.count);
    if (a.outcome == Outcome::Blocked) return false;
    if (a.outcome == Outcome::Hit) check(line, words, sm.data[line]);
    else if (a.ask != 0) flying_.push_back({Kind::Read, s, a.mshr, line});
    begin(sm.warp[w], {a.outcome == Outcome::Miss, line, words},
          a.outcome == Outcome::Hit ? "load hit"
          : a.ask != 0              ? "load miss"
                                    : "load waits");
    return true;
  }
  bool store(unsigned s, unsigned w, std::uint32_t line, unsigned words) {
    Sm& sm = *sm_[s];
    if (!sm.stores.takes(line)) return false;
    sm.l1.store(0, {line, 1, 0, 0}, 1, false, true, sm.count);
    begin(sm.warp[w], {}, sm.l1.last_way() == Tags::kAbsent ? "store absent" : "store present");
    each(words, [&](unsigned i) { sm.data[line][i] = ++golden_[line][i]; });
    sm.dirty[line] |= words;
    waiting_words(sm, line) |= words;
    sm.stores.put(line, 1, w, 0);
    return true;
  }
  /// Words of the entry that waits for this line: they leave together.
  unsigned& waiting_words(Sm& sm, std::uint32_t line) { return waiting_[{&sm, line}]; }
  void send_store(unsigned s) {
    Sm& sm = *sm_[s];
    const StoreBuffer::OutgoingRequest out = sm.stores.send();
    flying_.push_back(
        {Kind::Store, s, out.entry, out.line, waiting_words(sm, out.line), sm.data[out.line]});
    waiting_words(sm, out.line) = 0;
  }
  bool atomic(unsigned s, unsigned w, std::uint32_t line, unsigned words) {
    Sm& sm = *sm_[s];
    sm.l1.remove(0, line, 0);
    begin(sm.warp[w], {true, line, 0}, "atomic");
    flying_.push_back({Kind::Atomic, s, w, line, words});
    return true;
  }
  void check(std::uint32_t line, unsigned words, const LineData& data) {
    each(words, [&](unsigned i) { stale_ += data[i] != golden_[line][i]; });
  }
  template <class F>
  static void each(unsigned words, F f) {
    for (; words != 0; words &= words - 1) f(lowest(words));
  }

  // --- the L2, where everything meets ------------------------------------------------------------
  static bool from_l2(const Packet& p) {
    return p.kind == Kind::Data || p.kind == Kind::Stored || p.kind == Kind::Added;
  }
  /// Of what an SM has sent about a line, or the L2 to it, something older is still on its way.
  bool comes_after_another(std::size_t at) const {
    const Packet& p = flying_[at];
    for (std::size_t i = 0; i < at; ++i)
      if (from_l2(flying_[i]) == from_l2(p) && flying_[i].sm == p.sm && flying_[i].line == p.line)
        return true;
    return false;
  }
  void deliver() {
    if (flying_.empty()) return;
    std::size_t at = rng_.below(static_cast<std::uint32_t>(flying_.size()));
    while (comes_after_another(at)) at = rng_.below(static_cast<std::uint32_t>(at));
    Packet p = flying_[at];
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(at));
    Sm& sm = *sm_[p.sm];
    switch (p.kind) {
      case Kind::Read:
        p.data = l2_[p.line];
        p.kind = Kind::Data;
        return flying_.push_back(p);
      case Kind::Store:
        each(p.words, [&](unsigned i) { l2_[p.line][i] = p.data[i]; });
        p.kind = Kind::Stored;
        return flying_.push_back(p);
      case Kind::Atomic:
        check(p.line, p.words, l2_[p.line]);
        each(p.words, [&](unsigned i) { l2_[p.line][i] = ++golden_[p.line][i]; });
        p.kind = Kind::Added;
        return flying_.push_back(p);
      case Kind::Data:
        return fill(sm, p);
      case Kind::Stored:
        sm.stores.acknowledge(p.tag, [](unsigned) {});
        return still_dirty(sm, p);
      case Kind::Added:
        sm.warp[p.tag].under_way = false;
    }
  }
  void fill(Sm& sm, const Packet& p) {
    each(~sm.dirty[p.line] & 0xffff, [&](unsigned i) { sm.data[p.line][i] = p.data[i]; });
    sm.l1.fill(0, static_cast<std::uint16_t>(p.tag), 1, 0, sm.count, [&](std::uint16_t w) {
      check(p.line, sm.warp[w].need, sm.data[p.line]);
      sm.warp[w].under_way = false;
    });
  }
  /// Words with a later store under way stay the SM's own.
  void still_dirty(Sm& sm, const Packet& stored) {
    unsigned still = waiting_words(sm, stored.line);
    for (const Packet& p : flying_)
      if (sm_[p.sm].get() == &sm && p.line == stored.line &&
          (p.kind == Kind::Store || p.kind == Kind::Stored))
        still |= p.words;
    sm.dirty[stored.line] = still;
  }

  Rng rng_;
  Fault fault_;
  std::vector<std::unique_ptr<Sm>> sm_;
  std::array<LineData, kLines> golden_{}, l2_{};
  std::array<std::array<Role, kWords>, kLines> role_{};
  std::map<std::pair<const Sm*, std::uint32_t>, unsigned> waiting_;
  std::vector<Packet> flying_;
  std::map<std::string, std::uint64_t> seen_;
  std::uint64_t done_ = 0, stale_ = 0;
};

TEST(GpuCoherenceRandom, EveryLoadOfAMillionOperationsSeesWhatMemoryWould) {
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Tester tester(2 + static_cast<unsigned>(seed % 5), seed, Fault::None);
    tester.run(50000);
    ASSERT_EQ(tester.stale(), 0u) << "seed " << seed;
    for (const auto& [what, n] : tester.seen()) seen[what] += n;
  }
  for (const char* what :
       {"load hit", "load miss", "load waits", "store absent", "store present", "atomic"})
    EXPECT_GT(seen[what], 0u) << what;
}

TEST(GpuCoherenceRandom, WouldNoticeACacheThatSurvivesKernelsAndAnEndBeforeItsStores) {
  for (const Fault fault : {Fault::NoFlush, Fault::NoRelease}) {
    std::uint64_t stale = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Tester tester(4, seed, fault);
      tester.run(20000);
      stale += tester.stale();
    }
    EXPECT_GT(stale, 0u) << static_cast<unsigned>(fault);
  }
}

}  // namespace
}  // namespace raddle::test::gpu_coherence_random_test
