// The kernel suite: kernels come and go in the slots; some of those that wait fit at times, at
// times none but one.
#include <array>
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::KernelPolicy;

/// One of 32 entries, mostly not full, or of all there can be, many of which are taken.
class RandomDistributor {
 public:
  RandomDistributor(std::uint64_t seed, std::unique_ptr<KernelPolicy> policy)
      : rng_(seed, "distributor"),
        slots_(seed % 2 == 0 ? kKernelSlots : kernel_slots(1)),
        policy_(std::move(policy)) {}

  /// Returns the rule that was broken. Every decision is added to `log`.
  std::string run(unsigned launches, std::vector<unsigned>& log) {
    const unsigned pause = slots_ == kKernelSlots ? 3 : 20;
    for (Cycle quiet = 0; launches != 0 || under_way_.any(); ++now_, ++quiet) {
      if (launches != 0 && under_way_.count() != slots_ && rng_.below(pause) == 0) {
        --launches;
        begin();
      }
      end_some();
      if (std::string broken = dispatch_all(log, quiet); !broken.empty()) return broken;
      if (quiet > 10'000) return "stands still";
    }
    return "";
  }

 private:
  void begin() {
    unsigned slot = rng_.below(slots_);
    while (under_way_.test(slot)) slot = (slot + 1) % slots_;
    under_way_.set(slot);
    waiting_.set(slot);
    age_.insert(slot);
    left_[slot] = 1 + rng_.below(30);
    policy_->on_launch({sequence_++, "kernel", StreamId{slot % 3}, left_[slot], slot});
  }

  void end_some() {
    (under_way_ - waiting_).each([this](unsigned slot) {
      if (rng_.below(10) != 0) return;
      under_way_.clear(slot);
      policy_->on_end(slot);
    });
  }

  std::string dispatch_all(std::vector<unsigned>& log, Cycle& quiet) {
    if (!waiting_.any()) return "";
    // At times everything fits, at times nothing but the youngest or the oldest.
    KernelSet fits = waiting_;
    if (rng_.below(2) == 0)
      waiting_.each([&](unsigned slot) {
        if (rng_.below(2) == 0) fits.clear(slot);
      });
    if (!fits.any()) return "";
    const std::optional<unsigned> pick = policy_->pick({waiting_, fits, age_, now_});
    if (!pick) return fits == waiting_ ? "names none although all fit" : "";
    if (*pick >= slots_ || !fits.test(*pick))
      return "names slot " + std::to_string(*pick) + ", whose block does not fit";
    log.push_back(*pick);
    quiet = 0;
    if (--left_[*pick] == 0) waiting_.clear(*pick);
    return "";
  }

  Rng rng_;
  unsigned slots_;
  std::unique_ptr<KernelPolicy> policy_;
  KernelSet under_way_, waiting_;
  KernelAge age_;
  std::array<std::uint32_t, kKernelSlots> left_{};
  std::uint64_t sequence_ = 0;
  Cycle now_ = 0;
};

}  // namespace

std::string check_kernel(const Make<KernelPolicy>& make, std::uint64_t seed) {
  std::vector<unsigned> first, second;
  for (std::vector<unsigned>* log : {&first, &second})
    if (std::string broken = RandomDistributor(seed, make({seed})).run(200, *log); !broken.empty())
      return broken;
  return first == second ? "" : "the same history gave other decisions";
}

}  // namespace raddle::contract
