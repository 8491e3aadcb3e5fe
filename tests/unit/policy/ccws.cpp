// throttle=ccws against the reference, cycle by cycle, on random streams of events; once asked in
// every cycle and once only when its answer may have become another.
#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "support/settings.h"
#include "unit/policy/ccws_reference.h"

namespace raddle::policy::ccws_test {
namespace {

using test::CcwsReference;
using Rules = CcwsReference::Rules;

class Named final : public test::NoFields {
 public:
  explicit Named(ThrottlePolicy& policy) { policy.visit_statistics(*this); }
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    number[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> number;
};

struct Case {
  std::string name;
  Rules rules;
  test::Settings settings;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  return {
      {"Defaults", {}, {}},
      {"LargeK", {.k = 64}, {{"k", "64"}}},
      {"SmallBase", {.k = 3, .base = 7}, {{"k", "3"}, {"base", "7"}}},
      {"OneTag", {.k = 32, .entries = 1}, {{"k", "32"}, {"vta_entries", "1"}}},
      {"FourTags", {.entries = 4}, {{"vta_entries", "4"}}},
      {"ManyTags", {.entries = 128}, {{"vta_entries", "128"}}},
      {"ThreeWays", {.entries = 12, .ways = 3}, {{"vta_entries", "12"}, {"vta_ways", "3"}}},
      {"Period", {.k = 16, .period = 13}, {{"k", "16"}, {"eval_period", "13"}}},
      {"TenBits", {.k = 256, .maximum = 1023}, {{"k", "256"}, {"lls_bits", "10"}}},
      {"KernelTotals", {.k = 16, .totals = Rules::Kernel}, {{"k", "16"}, {"totals", "kernel"}}},
      {"RunTotals", {.k = 16, .totals = Rules::Run}, {{"k", "16"}, {"totals", "run"}}},
      {"Flush", {.flush_at_kernel = true}, {{"flush_at_kernel", "true"}}},
  };
}

/// Warps come, issue, miss and go at random; lines leave a cache that is not there.
class Stream {
 public:
  Stream(const Case& c, std::uint64_t seed) : reference_(c.rules), rng_(seed), base_(c.rules.base) {
    for (auto* p : {&eager_, &lazy_}) {
      *p = test::choose(all_policies().throttle, "ccws", c.settings)->make({0, kSlots, 1});
    }
  }
  /// One cycle; empty, or what is wrong.
  std::string step() {
    arrive();
    reference_.evaluate(now_);
    const ThrottleView view{running_, 0, age_, blocks_, now_};
    const WarpMask eager = ask(*eager_, view, eager_set_);
    const WarpMask lazy = lazy_->until() <= now_ ? ask(*lazy_, view, lazy_set_) : lazy_set_;
    for (WarpMask m = running_; m != 0; m &= m - 1) {
      const unsigned w = lowest(m);
      const bool expected = reference_.may_load(w);
      if ((eager >> w & 1) != expected || (lazy >> w & 1) != expected)
        return "cycle " + std::to_string(now_) + ", warp " + std::to_string(w) + " with score " +
               std::to_string(reference_.score(w)) + (expected ? " may" : " may not") + " load";
      denied_ += !expected;
    }
    issue();
    for (WarpMask m = running_; m != 0; m &= m - 1) raised_ += reference_.score(lowest(m)) > base_;
    reference_.decay();
    ++now_;
    return "";
  }
  void finish() {
    for (WarpMask m = running_; m != 0; m &= m - 1) end(lowest(m));
  }
  std::uint64_t hits_ = 0, denied_ = 0, raised_ = 0, warp_cycles_ = 0;
  std::unique_ptr<ThrottlePolicy> eager_, lazy_;

 private:
  static constexpr unsigned kSlots = 24;

  template <class F>
  void notify(F f) {
    f(*eager_);
    f(*lazy_);
  }
  static WarpMask ask(ThrottlePolicy& policy, const ThrottleView& view, WarpMask& set) {
    const Admission a = policy.ask(view);
    EXPECT_EQ(a.issue, ~WarpMask{0}) << "only loads are throttled";
    EXPECT_GT(a.until, view.now);
    return set = a.load;
  }
  void end(unsigned w) {
    warp_cycles_ += now_ - started_[w];
    running_ &= ~(WarpMask{1} << w);
    age_.remove(w);
    reference_.end(w);
    notify([&](ThrottlePolicy& p) {
      p.on_warp_end(now_, w);
      p.ask_again();
    });
    eager_set_ |= WarpMask{1} << w;
    lazy_set_ |= WarpMask{1} << w;  // the next one starts free
  }
  void arrive() {
    if (rng_.below(4000) == 0) {
      reference_.kernel_start();
      notify([&](ThrottlePolicy& p) {
        p.on_kernel_start(now_);
        p.ask_again();
      });
    }
    const unsigned w = rng_.below(kSlots);
    if ((running_ >> w & 1) != 0 || rng_.below(40) != 0) return;
    running_ |= WarpMask{1} << w;
    age_.insert(w);
    started_[w] = now_;
    reference_.start(w);
    notify([&](ThrottlePolicy& p) {
      p.on_warp_start(now_, w);
      p.ask_again();
    });
  }
  void issue() {
    if (running_ == 0) return;
    unsigned w = rng_.below(kSlots);
    const bool there = (running_ >> w & 1) != 0;
    if (there && rng_.below(3) == 0) {
      reference_.issue(w);
      notify([&](ThrottlePolicy& p) { p.on_issue(w); });
    }
    if (there && rng_.below(2000) == 0) end(w);
    // Whole phases without misses, so that scores come down to the base again.
    if (now_ / 3000 % 2 == 0 && rng_.below(6) == 0) serve(rng_.below(kSlots));
  }
  /// The L1D serves one access of a warp, whether it has ended or not.
  void serve(unsigned w) {
    L1Access a{};
    a.at = now_;
    a.line = rng_.below(80);
    a.warp = static_cast<std::uint8_t>(w);
    const unsigned what = rng_.below(20);
    a.kind = what == 0 ? L1Kind::Store : what == 1 ? L1Kind::Atomic : L1Kind::Load;
    a.local = rng_.below(10) == 0;
    a.outcome = a.kind != L1Kind::Load ? L1Outcome::Forwarded
                : what < 5             ? static_cast<L1Outcome>(what)  // hit, refused, pending ...
                                       : L1Outcome::Miss;
    const bool misses = a.kind == L1Kind::Load && a.outcome == L1Outcome::Miss;
    L1Eviction out{};
    out.at = now_;
    out.line = rng_.below(80);
    out.brought_by = static_cast<std::uint8_t>(rng_.below(kSlots));
    out.why = static_cast<L1Eviction::Why>(rng_.below(6) == 0 ? 1 + rng_.below(3) : 0);
    if (misses) notify([&](ThrottlePolicy& p) { p.l1_observer()->evicted(out); });
    notify([&](ThrottlePolicy& p) { p.l1_observer()->access(a); });
    if (misses) {
      hits_ += reference_.miss(w, a.line);  // before the eviction it causes
      if (out.why == L1Eviction::Why::Replaced) reference_.evict(out.brought_by, out.line);
    }
    if (a.kind != L1Kind::Load && !a.local) reference_.write(a.line);
  }

  CcwsReference reference_;
  Rng rng_;
  std::uint64_t base_;
  AgeMatrix64 age_;
  BlockOfWarp blocks_{};
  WarpMask running_ = 0, eager_set_ = ~WarpMask{0}, lazy_set_ = ~WarpMask{0};
  Cycle now_ = 0;
  std::array<Cycle, kSlots> started_{};
};

class CcwsCases : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, CcwsCases, testing::ValuesIn(cases()),
                         [](const auto& i) { return i.param.name; });

TEST_P(CcwsCases, DoesWhatTheReferenceDoes) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Stream stream(GetParam(), seed);
    for (unsigned i = 0; i < 30'000; ++i) ASSERT_EQ(stream.step(), "") << "seed " << seed;
    stream.finish();
    EXPECT_GT(stream.hits_, 0u);
    EXPECT_GT(stream.denied_, 0u) << "the stream throttles nobody: it tests nothing";
    Named eager(*stream.eager_), lazy(*stream.lazy_);
    EXPECT_EQ(eager.number, lazy.number) << "statistics depend on how often it was asked";
    EXPECT_EQ(eager.number["vta_hits"], stream.hits_);
    std::uint64_t histogram = 0;
    for (const char* bucket :
         {"at_base", "up_to_2x", "up_to_4x", "up_to_8x", "up_to_16x", "up_to_32x", "above_32x"})
      histogram += eager.number[bucket];
    EXPECT_EQ(histogram, stream.warp_cycles_) << "every cycle of every warp has one score";
    EXPECT_EQ(histogram - eager.number["at_base"], stream.raised_);
  }
}

}  // namespace
}  // namespace raddle::policy::ccws_test
