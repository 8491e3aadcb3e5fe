// Sobol' sequences of 32 and 64 bits: there is no state but a position in the sequence.
#include <algorithm>
#include <bit>

#include "raddle/curand/directions.h"
#include "raddle/curand/generator.h"
#include "raddle/curand/kernels/quasirandom.h"

namespace raddle::curand {

namespace {

/// As kernels have the words.
template <class Source>
class SobolGenerator : public Generator {
  using Word = typename Source::Word;
  using Held = std::conditional_t<sizeof(Word) == 8, std::uint64_t, std::uint32_t>;

 public:
  SobolGenerator(bool on_device, const char* name)
      : Generator(on_device), name_(name), vectors_(place) {}

  void set_offset(std::uint64_t offset) override { position_ = offset; }
  void set_ordering(int ordering) override { require(ordering == kQuasiOrder, kOutOfRange); }
  void set_dimensions(unsigned dimensions) override {
    require(dimensions >= 1 && dimensions <= kMaxDimensions, kOutOfRange);
    if (dimensions > kDimensions)
      throw Refusal{lacks("a quasirandom generator of more than " + std::to_string(kDimensions) +
                          " dimensions")};
    dimensions_ = dimensions;
  }
  bool is_wide() const override { return sizeof(Word) == 8; }

  void draw(Distribution which, void* to, std::size_t numbers, const Shape& shape) override {
    require(numbers % dimensions_ == 0, kLengthNotMultiple);
    const std::size_t points = numbers / dimensions_;
    if (points == 0) return;
    make_vectors();
    const SobolDraw<Word> draw{.to = to,
                               .points = static_cast<long long>(points),
                               .start = position_,
                               .vectors = vectors_.data(),
                               .shape = shape};
    if (place.on_device())
      place.launch("sobol", std::string("curand_") + name_ + "_" + name_of(which), draw,
                   {blocks_of_a_row(points), dimensions_, 1}, kThreads, place.stream);
    else with_distribution(which, [&]<Distribution kWhich>() { draw_on_host<kWhich>(draw); });
    position_ += points;
  }
  /// Like cuRAND's, by the word.
  Distribution poisson_by(double mean) const override {
    if (is_wide()) return mean < kMinNormalMean ? kPoissonInverse : kPoissonNormal;
    return mean < kMinInverseMean    ? kPoisson
           : mean <= kMaxInverseMean ? kPoissonInverse
                                     : kPoissonNormal;
  }

 private:
  static constexpr double kMinInverseMean = 10;
  /// A power of two, and of all rows some for each SM.
  unsigned blocks_of_a_row(std::size_t points) const {
    constexpr unsigned kEach = 8;
    const auto maximum = static_cast<unsigned>(place.multiprocessors()) * kEach / dimensions_;
    const std::size_t needed = (points + kThreads - 1) / kThreads;
    return std::bit_ceil(
        static_cast<unsigned>(std::min<std::size_t>(needed, std::max(maximum, 1u))));
  }
  void make_vectors() {
    if (held_ >= dimensions_) return;
    const Held* const from = direction_vectors<Held>();
    const Stream stream = place.for_states();
    vectors_.fill({from, from + std::size_t{dimensions_} * kBitsOf<Word>}, stream);
    held_ = dimensions_;
    place.states_are_made(stream);
  }
  template <Distribution kWhich>
  void draw_on_host(const SobolDraw<Word>& d) const {
    using T = decltype(number_of<Source, kWhich>(Word{}, d.shape));
    T* to = static_cast<T*>(d.to);
    for (unsigned dimension = 0; dimension < dimensions_; ++dimension) {
      const Word* const vectors = d.vectors + std::size_t{dimension} * kBitsOf<Word>;
      Word x = sobol_point(vectors, d.start);
      for (long long point = 0; point < d.points; ++point) {
        *to++ = number_of<Source, kWhich>(x, d.shape);
        x = sobol_step(x, vectors, d.start + static_cast<std::uint64_t>(point), 0);
      }
    }
  }
  const char* name_;
  Store<Word> vectors_;
  unsigned dimensions_ = 1, held_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<Generator> make_sobol(bool on_device, bool is_wide) {
  if (is_wide) return std::make_unique<SobolGenerator<Sobol64Word>>(on_device, "sobol64");
  return std::make_unique<SobolGenerator<Sobol32Word>>(on_device, "sobol32");
}

}  // namespace raddle::curand
