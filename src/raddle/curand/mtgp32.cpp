// MTGP32: 192 or, of the older ordering, 64 generators with parameters of their own.
#include <algorithm>

#include "raddle/curand/generator.h"
#include "raddle/curand/kernels/twisters.h"

namespace raddle::curand {

namespace {

constexpr unsigned kSets = 192, kOldSets = 64;
constexpr unsigned kParameters[kSets][kMtgpParameters] = {
#include "raddle/curand/mtgp32.inc"
};

std::vector<unsigned> all_parameters() {
  return {&kParameters[0][0], &kParameters[0][0] + kSets * kMtgpParameters};
}

/// One set's chunks of a call, as its block makes them.
template <Distribution kWhich>
void draw_set(const MtgpDraw& d, unsigned index, const MtgpSet& set) {
  using T = typename Number<kWhich>::Type;
  unsigned* const state = d.state + index * kMtgpWords;
  const std::uint64_t end = d.start + static_cast<std::uint64_t>(d.units);
  const std::uint64_t chunk0 = d.start / kMtgpChunk;
  for (std::uint64_t chunk = chunk0 + (index + d.count - chunk0 % d.count) % d.count;
       chunk * kMtgpChunk < end; chunk += d.count) {
    unsigned a[kMtgpWords + kMtgpChunk];
    std::copy_n(state, kMtgpWords, a);
    for (int i = 0; i < kMtgpChunk; ++i) {
      a[kMtgpWords + i] = mtgp_word(a, i, set);
      const std::uint64_t at = chunk * kMtgpChunk + static_cast<unsigned>(i);
      if (at >= d.start && at < end)
        static_cast<T*>(d.to)[at - d.start] =
            number_of<MtgpWord, kWhich>(mtgp_tempered(a, i, a[kMtgpWords + i], set), d.shape);
    }
    if ((chunk + 1) * kMtgpChunk <= end) std::copy_n(a + kMtgpChunk, kMtgpWords, state);
  }
}

class MtgpGenerator : public Generator {
 public:
  explicit MtgpGenerator(bool on_device)
      : Generator(on_device), state_(place), parameters_(place) {}

  void set_seed(std::uint64_t seed) override {
    if (seed == seed_) return;
    seed_ = seed;
    start_again();
  }
  void set_ordering(int ordering) override {
    require(ordering == kBest || ordering == kDefault || ordering == kLegacy ||
                (ordering == kDynamic && place.on_device()),
            kOutOfRange);
    const unsigned count = ordering == kLegacy ? kOldSets : kSets;
    if (count == count_) return;
    count_ = count;
    start_again();
  }
  void make_states() override {
    if (!is_stale_) return;
    const Stream stream = place.for_states();
    if (parameters_.is_empty()) parameters_.fill(all_parameters(), stream);
    state_.make_room(kSets * kMtgpWords);
    const MtgpDraw seed = described(nullptr, 0, {});
    if (place.on_device())
      place.launch("mtgp32", "curand_mtgp32_seed", seed, {blocks_for(count_)}, kThreads, stream);
    else
      for (unsigned set = 0; set < count_; ++set)
        mtgp_seed(state_.data() + set * kMtgpWords, kParameters[set][5], kParameters[set][6],
                  seed.seed + set + 1);
    is_stale_ = false;
    place.states_are_made(stream);
  }
  void draw(Distribution which, void* to, std::size_t numbers, const Shape& shape) override {
    if (numbers == 0) return;
    make_states();
    const MtgpDraw draw = described(to, numbers, shape);
    if (place.on_device())
      place.launch("mtgp32", std::string("curand_mtgp32_") + name_of(which), draw, {count_},
                   kMtgpChunk, place.stream);
    else
      with_distribution(which, [&]<Distribution kWhich>() {
        for (unsigned index = 0; index < count_; ++index) {
          const unsigned* const p = kParameters[index];
          MtgpSet set{.pos = p[0], .sh1 = p[1], .sh2 = p[2], .table = {}, .tempering = {}};
          for (unsigned i = 0; i < 16; ++i) {
            set.table[i] = spanned(p + 3, i);
            set.tempering[i] = spanned(p + 7, i);
          }
          draw_set<kWhich>(draw, index, set);
        }
      });
    position_ += numbers;
  }
  /// Means between have the inverse of the sum of probabilities.
  Distribution poisson_by(double mean) const override {
    return mean < kMinInverseMean    ? kPoisson
           : mean <= kMaxInverseMean ? kPoissonInverse
                                     : kPoissonNormal;
  }

 private:
  static constexpr double kMinInverseMean = 32;

  void start_again() {
    position_ = 0;
    is_stale_ = true;
  }
  MtgpDraw described(void* to, std::size_t numbers, const Shape& shape) {
    return {.to = to,
            .start = position_,
            .units = static_cast<long long>(numbers),
            .state = state_.data(),
            .parameters = parameters_.data(),
            .count = count_,
            .seed = static_cast<unsigned>(seed_ ^ seed_ >> 32),
            .shape = shape};
  }
  Store<unsigned> state_, parameters_;
  unsigned count_ = kSets;
  std::uint64_t seed_ = 0, position_ = 0;
  bool is_stale_ = true;
};

}  // namespace

std::unique_ptr<Generator> make_mtgp32(bool on_device) {
  return std::make_unique<MtgpGenerator>(on_device);
}

}  // namespace raddle::curand
