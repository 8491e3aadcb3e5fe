// The kernel suite: kernels come and go in the slots; some of those that wait fit at times, at
// times none but one.
#include <array>
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::KernelPolicy;

class RandomDistributor {
 public:
  RandomDistributor(std::uint64_t seed, std::unique_ptr<KernelPolicy> policy)
      : rng_(seed, "distributor"), policy_(std::move(policy)) {}

  /// Returns the rule that was broken. Every decision is added to `log`.
  std::string run(unsigned launches, std::vector<unsigned>& log) {
    for (Cycle quiet = 0; launches != 0 || under_way_ != 0; ++now_, ++quiet) {
      if (launches != 0 && under_way_ != ~std::uint32_t{0} && rng_.below(20) == 0)
        --launches, begin();
      end_some();
      if (std::string broken = hand_out(log, quiet); !broken.empty()) return broken;
      if (quiet > 10'000) return "stands still";
    }
    return "";
  }

 private:
  void begin() {
    unsigned slot = rng_.below(32);
    while ((under_way_ >> slot & 1) != 0) slot = (slot + 1) % 32;
    under_way_ |= 1u << slot, waiting_ |= 1u << slot;
    age_.insert(slot);
    left_[slot] = 1 + rng_.below(30);
    policy_->on_launch({sequence_++, "kernel", StreamId{slot % 3}, left_[slot], slot});
  }

  void end_some() {
    for (std::uint32_t m = under_way_ & ~waiting_; m != 0; m &= m - 1) {
      if (rng_.below(10) != 0) continue;
      under_way_ &= ~(1u << lowest(m));
      age_.remove(lowest(m));
      policy_->on_end(lowest(m));
    }
  }

  std::string hand_out(std::vector<unsigned>& log, Cycle& quiet) {
    if (waiting_ == 0) return "";
    // At times everything fits, at times nothing but the youngest or the oldest.
    std::uint32_t fits = waiting_;
    if (rng_.below(2) == 0) fits &= rng_.below(~0u);
    if (fits == 0) return "";
    const std::optional<unsigned> pick = policy_->pick({waiting_, fits, age_, now_});
    if (!pick) return fits == waiting_ ? "names none although all fit" : "";
    if (*pick >= 32 || (fits >> *pick & 1) == 0)
      return "names slot " + std::to_string(*pick) + ", whose block does not fit";
    log.push_back(*pick);
    quiet = 0;
    if (--left_[*pick] == 0) waiting_ &= ~(1u << *pick);
    return "";
  }

  Rng rng_;
  std::unique_ptr<KernelPolicy> policy_;
  std::uint32_t under_way_ = 0, waiting_ = 0;
  AgeMatrix64 age_;
  std::array<std::uint32_t, 32> left_{};
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
