// XORWOW and MRG32k3a: subsequences far apart in one sequence, which are dealt out in turn.
#include "raddle/curand/kernels/sequences.h"

#include <algorithm>

#include "raddle/curand/generator.h"
#include "raddle/curand/jump.h"
#include "raddle/curand/kernels/seeds.h"

namespace raddle::curand {

namespace {

/// Starting states are made for as many subsequences as calls come to.
template <class Engine>
class Sequences : public Generator {
 public:
  Sequences(bool on_device, const char* name)
      : Generator(on_device), name_(name), state_(place), base_(place), jump_(place) {}

  void set_seed(std::uint64_t seed) override {
    is_stale_ |= seed != seed_;
    seed_ = seed;
  }
  void set_offset(std::uint64_t offset) override {
    position_ = offset;
    is_stale_ = true;
  }
  void make_states() override { make_states(count()); }

  void draw(Distribution which, void* to, std::size_t numbers, const Shape& shape) override {
    require_pairs(which, numbers);
    const std::uint64_t units = is_normal(which) ? numbers / 2 : numbers;
    if (units == 0) return;
    const auto first = static_cast<unsigned>(position_ % count());
    const std::uint64_t after = first + units;
    make_states(static_cast<unsigned>(std::min<std::uint64_t>(after, count())));
    const SequenceDraw draw{.to = to,
                            .units = static_cast<long long>(units),
                            .state = state_.data(),
                            .count = count(),
                            .first = first,
                            .shape = shape};
    const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(units, count()));
    if (place.on_device())
      place.launch(name_, std::string("curand_") + name_ + "_" + name_of(which), draw,
                   {blocks_for(threads, block_threads())}, block_threads(), place.stream);
    else
      with_distribution(which, [&]<Distribution kWhich>() {
        if constexpr (kWhich != kPoissonInverse)
          for (unsigned k = 0; k < threads; ++k) draw_sequence<Engine, kWhich>(draw, k);
      });
    position_ += units;
  }
  Distribution poisson_by(double mean) const override {
    return mean < kMinNormalMean ? kPoisson : kPoissonNormal;
  }

 protected:
  virtual unsigned count() const = 0;
  /// Few subsequences are spread over more SMs.
  unsigned block_threads() const { return count() <= kFew ? 64 : kThreads; }
  /// Of subsequences `from` to `to`, at first_position_; `is_new`: after a seed or an offset.
  virtual void seed_states(unsigned from, unsigned to, bool is_new, Stream stream) = 0;

  void seed_by_jumps(unsigned from, unsigned to, unsigned columns, Stream stream,
                     void (*body)(const SequenceSeed&, unsigned)) {
    const SequenceSeed seed{.state = state_.data(),
                            .count = count(),
                            .from = from,
                            .to = to,
                            .base = base_.data(),
                            .jump = jump_.data(),
                            .columns = columns,
                            .extra = static_cast<unsigned>(first_position_ % count())};
    if (place.on_device())
      place.launch(name_, std::string("curand_") + name_ + "_seed", seed, {seed_blocks(to - from)},
                   block_threads(), stream);
    else
      for (unsigned s = from; s < to; ++s) body(seed, s);
  }
  virtual unsigned seed_blocks(unsigned states) const {
    return blocks_for(states, block_threads());
  }

  static constexpr unsigned kFew = 4096;  // of XORWOW, and of the old order of MRG32k3a
  const char* name_;
  Store<unsigned> state_, base_, jump_;
  std::uint64_t seed_ = 0, first_position_ = 0;
  bool is_stale_ = true;

 private:
  void make_states(unsigned needed) {
    if (is_stale_) {
      made_ = 0;
      first_position_ = position_;
    }
    if (needed <= made_) return;
    const Stream stream = place.for_states();
    state_.make_room(static_cast<std::size_t>(Engine::kWords + kSpareWords) * count());
    seed_states(made_, needed, is_stale_, stream);
    made_ = needed;
    is_stale_ = false;
    place.states_are_made(stream);
  }
  std::uint64_t position_ = 0;
  unsigned made_ = 0;
};

class XorwowGenerator : public Sequences<Xorwow> {
 public:
  explicit XorwowGenerator(bool on_device) : Sequences(on_device, "xorwow") {}

  void set_ordering(int ordering) override {
    require(ordering >= kBest && ordering <= (place.on_device() ? kDynamic : kLegacy), kOutOfRange);
    const bool is_seeded = ordering == kSeeded;
    is_stale_ |= is_seeded != is_seeded_;
    is_seeded_ = is_seeded;
  }

 private:
  unsigned count() const override { return kFew; }
  unsigned seed_blocks(unsigned) const override { return blocks_for(count(), block_threads()); }

  void seed_states(unsigned from, unsigned to, bool is_new, Stream stream) override {
    if (is_seeded_) return seed_each(from, to, is_new, stream);
    if (jump_.is_empty()) jump_.fill(xorwow_jumps().columns, stream);
    if (is_new) {
      const std::uint64_t steps = first_position_ / count();
      Xorwow g;
      g.seed(seed_);
      xorwow_steps(steps).apply(g.v);
      g.weyl += static_cast<unsigned>(steps) * Xorwow::kWeylStep;
      std::vector<unsigned> rows;
      for (unsigned row = 0; row < count() / kXorwowColumns; ++row) {
        rows.insert(rows.end(), g.v, g.v + 5);
        rows.push_back(g.weyl);  // the far steps are multiples of its period, 2^32
        xorwow_jumps().row.apply(g.v);
      }
      base_.fill(std::move(rows), stream);
    }
    seed_by_jumps(from, to, kXorwowColumns, stream, jumped_xorwow);
  }
  void seed_each(unsigned from, unsigned to, bool is_new, Stream stream) {
    const std::uint64_t steps = first_position_ / count();
    if (is_new && steps != 0) base_.fill(xorwow_steps(steps).columns, stream);
    const SeededDraw seeded{.state = state_.data(),
                            .count = count(),
                            .from = from,
                            .to = to,
                            .seed = seed_,
                            .jump = steps != 0 ? base_.data() : nullptr,
                            .added = static_cast<unsigned>(steps) * Xorwow::kWeylStep,
                            .extra = static_cast<unsigned>(first_position_ % count())};
    if (place.on_device())
      place.launch(name_, "curand_xorwow_seeded", seeded, {blocks_for(to - from)}, kThreads,
                   stream);
    else
      for (unsigned s = from; s < to; ++s) seeded_xorwow(seeded, s);
  }
  bool is_seeded_ = false;
};

class MrgGenerator : public Sequences<Mrg32k3a> {
 public:
  explicit MrgGenerator(bool on_device) : Sequences(on_device, "mrg32k3a") {}

  void set_ordering(int ordering) override {
    require(ordering == kBest || ordering == kDefault || ordering == kLegacy ||
                (ordering == kDynamic && place.on_device()),
            kOutOfRange);
    const unsigned count = ordering == kLegacy ? kFew : kBestCount;
    is_stale_ |= count != count_;
    count_ = count;
  }

 private:
  unsigned count() const override { return count_; }

  void seed_states(unsigned from, unsigned to, bool is_new, Stream stream) override {
    if (jump_.is_empty()) jump_.fill(mrg_jumps().columns, stream);
    if (is_new) {
      Mrg32k3a g = seeded();
      advance(g, mrg_steps(first_position_ / count()));
      std::vector<unsigned> rows;
      for (unsigned row = 0; row * kMrgColumns < count(); ++row) {
        rows.insert(rows.end(), g.s, g.s + kMrgWords);
        advance(g, mrg_jumps().row);
      }
      base_.fill(std::move(rows), stream);
    }
    seed_by_jumps(from, to, kMrgColumns, stream, jumped_mrg);
  }
  /// As cuRAND mixes a seed into L'Ecuyer's starting values.
  Mrg32k3a seeded() const {
    constexpr std::uint64_t kStart = 12345;
    const std::uint64_t low = static_cast<std::uint32_t>(seed_) ^ 0x55555555u;
    const std::uint64_t high = static_cast<std::uint32_t>(seed_ >> 32) ^ 0xaaaaaaaau;
    Mrg32k3a out{};
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t by = seed_ == 0 ? 1 : i % 2 == 0 ? low : high;
      out.s[i] = static_cast<unsigned>(by * kStart % (i < 3 ? kMrgModulus1 : kMrgModulus2));
    }
    return out;
  }
  static constexpr unsigned kBestCount = 81920;
  unsigned count_ = kBestCount;
};

}  // namespace

std::unique_ptr<Generator> make_xorwow(bool on_device) {
  return std::make_unique<XorwowGenerator>(on_device);
}
std::unique_ptr<Generator> make_mrg32k3a(bool on_device) {
  return std::make_unique<MrgGenerator>(on_device);
}

}  // namespace raddle::curand
