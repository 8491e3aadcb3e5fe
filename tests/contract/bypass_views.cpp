// The bypass suite: random warps that come, wait and end on an SM that is what the test says, and
// random lines that they do not find.
#include "contract/seeded_views.h"
#include "raddle/base/mask.h"
#include "raddle/base/rng.h"
#include "support/fake_sm.h"
#include "support/no_fields.h"

namespace raddle::contract {

namespace {

using policy::BypassPolicy;
using policy::BypassView;
using policy::WarpWait;

constexpr unsigned kSlots = 16;

class RandomSm {
 public:
  RandomSm(const Make<BypassPolicy>& make, std::uint64_t seed) : rng_(seed, "sm") {
    for (std::unique_ptr<BypassPolicy>& policy : policy_) {
      policy = make({0, 8, 4, kSlots, seed});
      if (policy->sm_observer() != nullptr) policy->sm_observer()->attach(sm_);
    }
  }
  std::string step() {
    now_ += 1 + rng_.below(20);
    const unsigned slot = rng_.below(kSlots);
    const bool there = (resident_ >> slot & 1) != 0;
    const bool changes = rng_.below(3) != 0;
    if (changes && !there) start(slot);
    else if (changes) wait_or_end(slot);
    for (unsigned p = 0; p < policy_.size(); ++p)
      if (changes || p == kNotifiedOften)
        if (auto* sees = policy_[p]->sm_observer()) sees->waits_changed(now_);
    return resident_ == 0 ? "" : ask(slot);
  }
  std::string statistics() {
    return policy_[0]->bypasses() && counts(0) != counts(kNotifiedOften) ? "counts differ" : "";
  }

 private:
  static constexpr unsigned kNotifiedOften = 1;  // of changes that are none, too

  void start(unsigned slot) {
    sm_.facts[slot] = {};
    sm_.facts[slot].started = now_;
    sm_.facts[slot].launch = started_ / 40;
    sm_.facts[slot].block = started_++ / 4;
    for (auto& policy : policy_)
      if (auto* hears = policy->l1_observer())
        hears->warp_started({now_,
                             sm_.facts[slot].launch,
                             sm_.facts[slot].block,
                             0,
                             static_cast<std::uint8_t>(slot),
                             0,
                             {}});
    sm_.wait(std::uint64_t{1} << slot, WarpWait::Nothing);
    resident_ |= std::uint64_t{1} << slot;
  }
  void wait_or_end(unsigned slot) {
    const std::uint64_t warp = std::uint64_t{1} << slot;
    if (rng_.below(8) != 0)
      return sm_.wait(warp, static_cast<WarpWait>(rng_.below(policy::kWarpWaits - 1)));
    resident_ &= ~warp;
    if (rng_.below(2) == 0) sm_.wait(warp, WarpWait::Ended);
    else sm_.leave(warp);
  }
  std::string ask(unsigned slot) {
    while ((resident_ >> slot & 1) == 0) slot = (slot + 1) % kSlots;
    const bool refused = rng_.below(4) == 0;
    const BypassView view{now_,
                          rng_.below(50),
                          rng_.below(10),
                          static_cast<std::uint8_t>(slot),
                          static_cast<TenantId>(rng_.below(3)),
                          rng_.below(4) == 0,
                          refused && rng_.below(2) == 0,
                          refused};
    const bool past = policy_[0]->ask(view);
    return policy_[kNotifiedOften]->ask(view) == past
               ? ""
               : "a second instance, told of waits more often, decided otherwise";
  }
  std::string counts(unsigned p) {
    struct Text final : test::NoFields {
      using NoFields::field;
      std::string out;
      void field(std::string_view name, std::uint64_t& v, Range<std::uint64_t>, std::string_view,
                 std::string_view) override {
        out += std::string(name) + "=" + std::to_string(v) + " ";
      }
    } text;
    policy_[p]->visit_statistics(text);
    return text.out;
  }

  Rng rng_;
  test::FakeSm sm_;
  std::array<std::unique_ptr<BypassPolicy>, 2> policy_;
  std::uint64_t resident_ = 0;
  std::uint32_t started_ = 0;
  Cycle now_ = 0;
};

}  // namespace

std::string check_bypass(const Make<BypassPolicy>& make, std::uint64_t seed) {
  RandomSm sm(make, seed);
  for (unsigned n = 0; n < 20'000; ++n)
    if (std::string broken = sm.step(); !broken.empty()) return broken;
  return sm.statistics();
}

}  // namespace raddle::contract
