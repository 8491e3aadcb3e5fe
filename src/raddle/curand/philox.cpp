// Philox4x32-10: the state is a position in the sequence, and the steps that subsequences made.
#include <algorithm>

#include "raddle/curand/generator.h"
#include "raddle/curand/kernels/sequences.h"

namespace raddle::curand {

namespace {

class PhiloxGenerator : public Generator {
 public:
  explicit PhiloxGenerator(bool on_device) : Generator(on_device), used_(place) {}

  /// After another seed, cuRAND goes on at the offset and as many numbers as groups were finished;
  /// within the first group where that is 0.
  void set_seed(std::uint64_t seed) override {
    if (seed == seed_) return;
    seed_ = seed;
    const std::uint64_t next = offset_ + position_ / kGroup - offset_ / kGroup;
    if (next != 0) position_ = offset_ = next;
    is_stale_ = true;
  }
  void set_offset(std::uint64_t offset) override {
    position_ = offset_ = offset;
    is_stale_ = true;
  }
  void set_ordering(int ordering) override {
    require(ordering == kBest || ordering == kDefault || ordering == kLegacy ||
                (ordering == kDynamic && place.on_device()),
            kOutOfRange);
  }
  void make_states() override {
    if (!is_stale_) return;
    const Stream stream = place.for_states();
    used_.make_room(kCount);
    used_.clear(stream);
    first_group_ = position_ / kGroup;
    is_stale_ = false;
    place.states_are_made(stream);
  }
  void draw(Distribution which, void* to, std::size_t numbers, const Shape& shape) override {
    if (numbers == 0) return;
    make_states();
    const PhiloxDraw draw{.to = to,
                          .units = static_cast<long long>(numbers),
                          .skipped = static_cast<int>(position_ % kGroup),
                          .used = used_.data(),
                          .count = kCount,
                          .first = static_cast<unsigned>(position_ / kGroup % kCount),
                          .seed = seed_,
                          .offset = first_group_,
                          .shape = shape};
    const std::uint64_t groups = (position_ % kGroup + numbers + kGroup - 1) / kGroup;
    const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(groups, kCount));
    if (place.on_device())
      place.launch("philox", std::string("curand_philox_") + name_of(which), draw,
                   {blocks_for(threads)}, kThreads, place.stream);
    else
      with_distribution(which, [&]<Distribution kWhich>() {
        if constexpr (kWhich != kPoissonInverse)
          for (unsigned k = 0; k < threads; ++k) draw_philox<kWhich>(draw, k);
      });
    position_ += numbers;
  }
  Distribution poisson_by(double mean) const override {
    return mean < kMinNormalMean ? kPoisson : kPoissonNormal;
  }

 private:
  static constexpr unsigned kCount = 65536, kGroup = 4;
  Store<unsigned long long> used_;
  std::uint64_t seed_ = 0, offset_ = 0, position_ = 0, first_group_ = 0;
  bool is_stale_ = true;
};

}  // namespace

std::unique_ptr<Generator> make_philox(bool on_device) {
  return std::make_unique<PhiloxGenerator>(on_device);
}

}  // namespace raddle::curand
