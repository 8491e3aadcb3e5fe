// MT19937: 8192 subsequences, 2^2048 steps apart. Their starting states are made on the host, for
// as many as calls come to.
#include <algorithm>

#include "raddle/curand/generator.h"
#include "raddle/curand/kernels/twisters.h"
#include "raddle/curand/twister_jump.h"

namespace raddle::curand {

namespace {

constexpr std::uint64_t kRow = 8ULL * kTwisterCount;

void renew(unsigned* x) {
  constexpr int kApart = 397, kStep = kTwisterWords - kApart;
  for (int w = 0; w < kTwisterWords; ++w)
    x[w] = twisted(x[w], x[(w + 1) % kTwisterWords], x[w < kStep ? w + kApart : w - kStep]);
}

/// One subsequence's numbers of a call, as its block makes them.
template <Distribution kWhich>
void draw_subsequence(const TwisterDraw& d, unsigned subsequence) {
  using T = typename Number<kWhich>::Type;
  unsigned* const x = d.state + subsequence * (kTwisterWords + std::size_t{1});
  const std::uint64_t end = d.start + static_cast<std::uint64_t>(d.units);
  for (std::uint64_t row = d.start / kRow; row <= (end - 1) / kRow; ++row) {
    for (; x[kTwisterWords] <= row / kTwisterRows; ++x[kTwisterWords]) renew(x);
    for (int lane = 0; lane < 8; ++lane) {
      const std::uint64_t at = row * kRow + subsequence * 8 + static_cast<unsigned>(lane);
      if (at >= d.start && at < end)
        static_cast<T*>(d.to)[at - d.start] = number_of<TwisterWord, kWhich>(
            twister_tempered(x[twister_word(static_cast<int>(row % kTwisterRows), lane)]), d.shape);
    }
  }
}

class TwisterGenerator : public Generator {
 public:
  explicit TwisterGenerator(bool on_device) : Generator(on_device), state_(place) {}

  void set_seed(std::uint64_t seed) override {
    if (seed == seed_) return;
    seed_ = seed;
    position_ = 0;
    made_ = 0;
  }
  void set_ordering(int ordering) override {
    require(ordering == kDefault || ordering == kLegacy || (ordering == kBest && place.on_device()),
            kOutOfRange);
  }
  void make_states() override { make_states(kTwisterCount); }

  void draw(Distribution which, void* to, std::size_t numbers, const Shape& shape) override {
    if (numbers == 0) return;
    const std::uint64_t last = position_ + numbers - 1;
    const bool is_in_a_row = position_ / kRow == last / kRow;
    make_states(is_in_a_row ? static_cast<unsigned>(last % kRow / 8) + 1 : kTwisterCount);
    const std::uint64_t eights = last / 8 - position_ / 8 + 1;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(eights, kTwisterCount));
    const TwisterDraw draw{.to = to,
                           .start = position_,
                           .units = static_cast<long long>(numbers),
                           .state = state_.data(),
                           .first = static_cast<unsigned>(position_ / 8 % kTwisterCount),
                           .shape = shape};
    if (place.on_device())
      place.launch("mt19937", std::string("curand_mt19937_") + name_of(which), draw, {blocks},
                   kThreads, place.stream);
    else
      with_distribution(which, [&]<Distribution kWhich>() {
        for (unsigned block = 0; block < blocks; ++block)
          draw_subsequence<kWhich>(draw, (draw.first + block) % kTwisterCount);
      });
    position_ += numbers;
  }
  Distribution poisson_by(double mean) const override {
    return mean < kMinNormalMean ? kPoisson : kPoissonNormal;
  }

 private:
  void make_states(unsigned needed) {
    if (needed <= made_) return;
    const Stream stream = place.for_states();
    constexpr std::size_t kEach = kTwisterWords + 1;
    state_.make_room(kTwisterCount * kEach);
    std::vector<unsigned> states;
    for (unsigned s = made_; s < needed; ++s) {
      next_ = s == 0 ? twister_state(static_cast<unsigned>(seed_)) : twister_jumped(next_);
      states.insert(states.end(), next_.begin(), next_.end());
      states.push_back(0);
    }
    state_.fill(std::move(states), stream, made_ * kEach);
    made_ = needed;
    place.states_are_made(stream);
  }
  Store<unsigned> state_;
  std::vector<unsigned> next_;  ///< starting state of the last subsequence that was made
  std::uint64_t seed_ = 0, position_ = 0;
  unsigned made_ = 0;
};

}  // namespace

std::unique_ptr<Generator> make_mt19937(bool on_device) {
  return std::make_unique<TwisterGenerator>(on_device);
}

}  // namespace raddle::curand
