// Replacement policies in caches and in a whole GPU: what they are told, that the cache's own order
// is one of them, and that neither skipping nor threads change anything.
#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/l1d.h"
#include "support/gpu_harness.h"
#include "support/random_kernel.h"
#include "support/settings.h"

namespace raddle::gpu_replacement_test {
namespace {

using namespace raddle::support;
using policy::CacheAccess;
using policy::CachePlace;
using policy::ReplacementPolicy;
using policy::SetView;
using timing::GpuOptions;
using timing::L1d;
using timing::WayShares;
using timing::WritePolicy;

const std::vector<TenantId> kTenants = {TenantId{0}, TenantId{1}, TenantId{2}};

/// Least recently used, asked like any other policy, with what it is told written down.
class AskedLru final : public ReplacementPolicy {
 public:
  explicit AskedLru(std::string* notified = nullptr) : notified_(notified) {}
  unsigned victim(const SetView& view) const override {
    EXPECT_EQ(view.candidates & ~view.held, 0u) << "empty ways are given out by the cache";
    return view.oldest(view.candidates);
  }
  void accessed(const CacheAccess& a) override {
    if (notified_ == nullptr) return;
    *notified_ += "use " + std::to_string(a.line) + " by " + std::to_string(index(a.tenant)) +
                  (a.way == CacheAccess::kNoWay ? "; " : " in " + std::to_string(a.way) + "; ");
  }
  void placed(const CachePlace& p) override {
    if (notified_ == nullptr) return;
    *notified_ += "place " + std::to_string(p.line) + " in " + std::to_string(p.way) +
                  (p.replaces ? " over another; " : "; ");
  }
  void flushed() override {
    if (notified_ != nullptr) *notified_ += "flush; ";
  }

 private:
  std::string* notified_;
};

/// An L1D whose misses come back after a while, in another order.
class Driven {
 public:
  Driven(const timing::L1dSpec& spec, std::unique_ptr<ReplacementPolicy> policy,
         const WayShares* shares)
      : cache_(spec) {
    if (policy != nullptr) cache_.replace_by(std::move(policy), kTenants.data());
    cache_.share_ways(shares);
  }
  /// Every outcome, one letter each.
  std::string play(std::uint64_t seed) {
    Rng rng(seed);
    std::string out;
    std::vector<std::tuple<std::uint16_t, std::uint8_t, std::uint8_t>> asked;
    for (unsigned n = 0; n < 20'000; ++n) {
      ++now_;
      const auto slot = static_cast<std::uint8_t>(rng.below(3));
      const std::uint32_t line = 40 * slot + rng.below(rng.below(4) == 0 ? 40 : 6);
      const auto sectors = static_cast<std::uint8_t>(1 + rng.below(15));
      const bool can_send = rng.below(8) != 0;
      const L1d::Request r{line, sectors, slot, static_cast<std::uint16_t>(n % 64)};
      const L1d::Answer a = rng.below(5) == 0
                                ? cache_.store(now_, r, sectors, false, can_send, count_)
                                : cache_.load(now_, r, can_send, count_);
      out += static_cast<char>('a' + static_cast<int>(a.outcome));
      if (a.outcome == L1d::Outcome::Miss && a.ask != 0) asked.emplace_back(a.mshr, a.ask, slot);
      if (rng.below(2) == 0 && !asked.empty()) {
        const auto which = asked.begin() + rng.below(static_cast<std::uint32_t>(asked.size()));
        const auto [mshr, ask, of] = *which;
        cache_.fill(now_, mshr, ask, of, count_, [](std::uint16_t) {});
        asked.erase(which);
      }
      while (!cache_.write_backs().empty()) cache_.write_backs().pop();
      if (rng.below(1000) == 0) cache_.flush(now_, slot);
    }
    return out;
  }

 private:
  L1d cache_;
  stats::SmCounters count_;
  Cycle now_ = 0;
};

TEST(Replacement, AskingForTheOldestIsWhatTheCacheDoesByItself) {
  WayShares shares(3);
  shares.set(0, 0b0011);
  shares.set(1, 0b0110);
  for (const bool reserve : {false, true})
    for (const WritePolicy write :
         {WritePolicy::WriteThrough, WritePolicy::WriteEvict, WritePolicy::WriteThroughValidate,
          WritePolicy::WriteBack, WritePolicy::WriteValidate, WritePolicy::WriteBackAround})
      for (const WayShares* among :
           {static_cast<const WayShares*>(nullptr), static_cast<const WayShares*>(&shares)}) {
        timing::L1dSpec spec;
        spec.size_kib = 2;
        spec.line_bytes = 128;
        spec.ways = 4;
        spec.mshr_entries = 4;
        spec.reserve_on_miss = reserve;
        spec.write_policy = spec.local_write_policy = write;
        Driven own(spec, nullptr, among), asked(spec, std::make_unique<AskedLru>(), among);
        EXPECT_EQ(own.play(7), asked.play(7))
            << "reserve " << reserve << ", write policy " << static_cast<int>(write) << ", shares "
            << (among != nullptr);
      }
}

class Notified : public ::testing::Test {
 protected:
  Notified() {
    spec.size_kib = 1;
    spec.line_bytes = 128;
    spec.ways = 2;
  }  // four sets
  L1d::Answer load(L1d& c, std::uint32_t line, std::uint8_t slot = 0, bool can_send = true) {
    return c.load(5, {line, 0xf, slot, 0}, can_send, count);
  }
  void fill(L1d& c, const L1d::Answer& a, std::uint8_t slot = 0) {
    c.fill(9, a.mshr, a.ask, slot, count, [](std::uint16_t) {});
  }
  std::string take() { return std::exchange(notified, {}); }
  timing::L1dSpec spec;
  stats::SmCounters count;
  std::string notified;
};

TEST_F(Notified, OfAMissAtItsAccessAndOfItsPlaceWhenItsDataCome) {
  L1d c(spec);
  c.replace_by(std::make_unique<AskedLru>(&notified), kTenants.data());
  const L1d::Answer a = load(c, 4, 1);
  EXPECT_EQ(take(), "use 4 by 1; ");
  load(c, 4, 1);
  EXPECT_EQ(take(), "use 4 by 1; ") << "on its way";
  fill(c, a, 1);
  EXPECT_EQ(take(), "place 4 in 0; ");
  load(c, 4, 2);
  EXPECT_EQ(take(), "use 4 by 2 in 0; ");
  fill(c, load(c, 8));
  fill(c, load(c, 12));
  EXPECT_EQ(take(), "use 8 by 0; place 8 in 1; use 12 by 0; place 12 in 0 over another; ");
  c.flush(9, 0);
  fill(c, load(c, 16));
  EXPECT_EQ(take(), "flush; use 16 by 0; place 16 in 1; ") << "the last to be emptied goes first";
}

TEST_F(Notified, WhereMissesReserveWaysThePlaceIsThatOfTheMiss) {
  spec.reserve_on_miss = true;
  L1d c(spec);
  c.replace_by(std::make_unique<AskedLru>(&notified), kTenants.data());
  const L1d::Answer a = load(c, 4);
  EXPECT_EQ(take(), "place 4 in 0; use 4 by 0; ");
  load(c, 4);
  EXPECT_EQ(take(), "use 4 by 0 in 0; ");
  fill(c, a);
  EXPECT_EQ(take(), "");
}

TEST_F(Notified, NothingOfWhatIsRefused) {
  L1d c(spec);
  c.replace_by(std::make_unique<AskedLru>(&notified), kTenants.data());
  EXPECT_EQ(load(c, 4, 0, false).outcome, L1d::Outcome::Blocked);
  EXPECT_EQ(take(), "");
}

TEST_F(Notified, OfStoresThatFindOrBringTheirLine) {
  const auto stores = [&](WritePolicy write) {
    spec.write_policy = write;
    L1d c(spec);
    c.replace_by(std::make_unique<AskedLru>(&notified), kTenants.data());
    fill(c, load(c, 4));
    take();
    for (const std::uint32_t line : {4u, 8u}) c.store(6, {line, 1, 0, 0}, 1, false, true, count);
    return take();
  };
  EXPECT_EQ(stores(WritePolicy::WriteThrough), "use 4 by 0 in 0; ");
  EXPECT_EQ(stores(WritePolicy::WriteEvict), "");
  EXPECT_EQ(stores(WritePolicy::WriteThroughValidate),
            "use 4 by 0 in 0; place 8 in 1; use 8 by 0; ");
  EXPECT_EQ(stores(WritePolicy::WriteBack), "use 4 by 0 in 0; use 8 by 0; ");
  EXPECT_EQ(stores(WritePolicy::WriteBackAround), "use 4 by 0 in 0; ");
  EXPECT_EQ(stores(WritePolicy::WriteValidate), "use 4 by 0 in 0; place 8 in 1; use 8 by 0; ");
}

/// Names a way that it may not give away.
class Wrong final : public ReplacementPolicy {
 public:
  unsigned victim(const SetView& view) const override { return view.candidates == 1 ? 1 : 7; }
};
TEST(Replacement, AWayThatMayNotBeGivenAwayStopsTheRun) {
  timing::L1dSpec spec;
  spec.size_kib = 1;
  spec.line_bytes = 128;
  spec.ways = 2;
  const auto play = [&] { Driven(spec, std::make_unique<Wrong>(), nullptr).play(1); };
  EXPECT_THROW(play(), RunError);
}

// One memory with shared memory: whoever replaces, what a kernel does not share is its L1D.
TEST(Resized, APolicyHasMoreSetsWhereTheOrderOfUseHasMoreWays) {
  timing::L1dSpec spec;
  spec.size_kib = 1;
  spec.line_bytes = 128;
  spec.sector_bytes = 32;
  spec.ways = 2;
  spec.unified_kib = 4;
  spec.shared_kib_choices = "0,1,3";
  spec.write_policy = spec.local_write_policy = WritePolicy::WriteThrough;
  spec.reserve_on_miss = false;
  ASSERT_EQ(spec.sets(), 4u);
  ASSERT_EQ(spec.max_sets(), 16u);
  for (const bool asked : {false, true}) {
    L1d cache(spec);
    if (asked) cache.replace_by(std::make_unique<AskedLru>(), kTenants.data());
    stats::SmCounters count;
    Cycle now = 0;
    const auto hits = [&](std::uint32_t lines) {  // of a second pass
      unsigned out = 0;
      for (unsigned pass = 0; pass < 2; ++pass)
        for (std::uint32_t line = 0; line < lines; ++line) {
          const L1d::Answer answer = cache.load(++now, {line, 0xf, 0, 0}, true, count);
          if (answer.outcome == L1d::Outcome::Hit) out += pass;
          else cache.fill(now, answer.mshr, answer.ask, 0, count, [](std::uint16_t) {});
        }
      return out;
    };
    EXPECT_EQ(hits(8), 8u) << asked;
    for (const auto& [shared_bytes, lines] : {std::pair{0u, 32u}, {1024u, 24u}, {3072u, 8u}}) {
      cache.flush(++now, 0);
      cache.resize(now, spec.ways_beside(shared_bytes));
      EXPECT_EQ(hits(lines), lines) << shared_bytes << " bytes shared, asked " << asked;
      cache.flush(++now, 0);
      EXPECT_EQ(hits(2 * lines), 0u) << shared_bytes << " bytes shared, asked " << asked;
    }
  }
}

// --- in a GPU -----------------------------------------------------------------------------------

struct Outcome {
  std::uint64_t hash;
  Cycle cycles;
  std::uint64_t hits;
  bool operator==(const Outcome&) const = default;
};

Outcome shared(const timing::MachineSpec& m, const GpuOptions& options, const char* name,
               const test::Settings& settings) {
  std::unique_ptr<policy::Choice<ReplacementPolicy>> choice;
  if (*name != 0) choice = test::choose(policy::all_policies().replacement, name, settings);
  GpuHarness gpu(m, options, std::move(choice));
  std::vector<std::unique_ptr<Recording>> kept;
  for (unsigned launch = 0; launch < 12; ++launch) {
    kept.push_back(random_kernel(launch % 7));
    gpu.submit(*kept.back(), 1 + launch % 3, tenant(launch % 3));
  }
  gpu->run_until_idle();
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{}) << name;
  return {gpu->hash(), gpu->now(), gpu->counters().sm.l1d_hits};
}

TEST(GpuReplacement, EveryPolicyIsIndifferentToWhatTheHostDoes) {
  const std::vector<std::pair<const char*, test::Settings>> policies = {
      {"lru", {}}, {"fifo", {}}, {"srrip", {}}, {"ucp", {{"interval", "200"}, {"sample", "1"}}}};
  EXPECT_EQ(policies.size(), policy::all_policies().replacement.names().size())
      << "the list above has them all";
  for (const bool reserve : {false, true}) {
    timing::MachineSpec m = busy_machine();
    m.sm.l1d.size_kib = 2;
    m.sm.l1d.reserve_on_miss = reserve;
    const Outcome plain = shared(m, {}, "", {});
    for (const auto& [name, settings] : policies) {
      GpuOptions slow, shuffled, threads;
      slow.skip = false;
      shuffled.shuffle = true;
      threads.threads = 2;
      const Outcome usual = shared(m, {}, name, settings);
      EXPECT_EQ(usual, shared(m, slow, name, settings)) << name << ": no skip";
      EXPECT_EQ(usual, shared(m, shuffled, name, settings)) << name << ": shuffled";
      EXPECT_EQ(usual, shared(m, threads, name, settings)) << name << ": threads";
      EXPECT_EQ(usual == plain, std::string_view(name) == "lru") << name;
    }
  }
}

// No policy is compared with a larger cache: any but lru had the L1D of the machine file once.
TEST(GpuReplacement, TheL1dFollowsSharedMemoryUnderEveryPolicy) {
  timing::MachineSpec m = busy_machine();
  m.sm.l1d.size_kib = 2;
  m.sm.l1d.reserve_on_miss = false;
  const std::uint64_t small = shared(m, {}, "", {}).hits;
  m.sm.l1d.unified_kib = m.sm.shared_kib + 32;
  m.sm.l1d.shared_kib_choices = "0," + std::to_string(m.sm.shared_kib);
  ASSERT_EQ(m.violations(), std::vector<std::string>{});
  const std::uint64_t large = shared(m, {}, "", {}).hits;
  ASSERT_GT(large, small);
  for (const std::string& name : policy::all_policies().replacement.names()) {
    test::Settings settings;
    if (name == "ucp") settings = {{"interval", "200"}, {"sample", "1"}};
    EXPECT_GT(2 * shared(m, {}, name.c_str(), settings).hits, large + small) << name;
  }
}

}  // namespace
}  // namespace raddle::gpu_replacement_test
