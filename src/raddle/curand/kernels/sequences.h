// Numbers of subsequences that threads deal out in turn: XORWOW, MRG32k3a and Philox4x32-10. Each
// function is what one thread does; the generators on the host go through the threads.
#pragma once
#include "raddle/curand/kernels/distributions.h"
#include "raddle/curand/kernels/engines.h"

namespace raddle::curand {

/// Neighbours, by one access where the memory is aligned for it.
template <class T, int kCount>
RADDLE_SHARED void store(T* to, const T (&numbers)[kCount]) {
#ifdef __CUDA__
  using Packed = T __attribute__((ext_vector_type(kCount)));
  constexpr unsigned long long kBytes = kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16;
  if (reinterpret_cast<unsigned long long>(to) % kBytes == 0) {
    Packed all;
    for (int i = 0; i < kCount; ++i) all[i] = numbers[i];
    using Aligned = Packed __attribute__((aligned(kBytes)));
    *reinterpret_cast<Aligned*>(to) = all;
    return;
  }
#endif
  for (int i = 0; i < kCount; ++i) to[i] = numbers[i];
}

/// How a generator's steps become numbers.
RADDLE_SHARED unsigned bits_from(Xorwow& g) { return g.next(); }
RADDLE_SHARED float uniform_from(Xorwow& g) { return unit_float(g.next()); }
RADDLE_SHARED double wide_from(Xorwow& g) {
  const unsigned x = g.next();
  return unit_double(x, g.next());
}
RADDLE_SHARED double middle_from(Xorwow& g) { return unit_double(g.next()); }
RADDLE_SHARED Pair<float> pair_from(Xorwow& g) {
  const unsigned x = g.next();
  return normal_pair(x, g.next());
}
RADDLE_SHARED Pair<double> wide_pair_from(Xorwow& g) {
  const double u = wide_from(g);
  return normal_pair(u, 2.0 * wide_from(g));
}

inline constexpr double kMrgScale = 1.0 / 4294967087.0;
RADDLE_SHARED double middle_from(Mrg32k3a& g) { return static_cast<double>(g.next()) * kMrgScale; }
RADDLE_SHARED double wide_from(Mrg32k3a& g) { return middle_from(g); }
RADDLE_SHARED float uniform_from(Mrg32k3a& g) { return static_cast<float>(middle_from(g)); }
/// Spread over all words.
RADDLE_SHARED unsigned bits_from(Mrg32k3a& g) {
  constexpr double kSpread = 1.000000048662;  // 2^32 / 4294967087, as cuRAND rounds it
  return static_cast<unsigned>(
      static_cast<unsigned long long>(static_cast<double>(g.next()) * kSpread));
}
RADDLE_SHARED Pair<float> pair_from(Mrg32k3a& g) {
  const float u = uniform_from(g);
  return normal_pair(u, uniform_from(g) * 6.2831855f);
}
RADDLE_SHARED Pair<double> wide_pair_from(Mrg32k3a& g) {
  const double u = wide_from(g);
  return normal_pair(u, 2.0 * wide_from(g));
}

inline constexpr bool is_paired(Distribution which) {
  return which == kNormal || which == kNormalDouble || which == kLogNormal ||
         which == kLogNormalDouble;
}

/// What the Poisson distribution left of a pair.
struct Spare {
  float normal = 0;
  bool is_there = false;
};
/// Each pair makes two numbers of the Poisson distribution; the second is kept with the state.
template <class Engine>
RADDLE_SHARED unsigned rounded_from(Engine& g, Spare& spare, const Shape& shape) {
  float normal = spare.normal;
  if (!spare.is_there) {
    const Pair<float> pair = pair_from(g);
    normal = pair.first;
    spare.normal = pair.second;
  }
  spare.is_there = !spare.is_there;
  return rounded_poisson(normal, shape);
}

template <class Engine, Distribution kWhich>
RADDLE_SHARED void draw_unit(Engine& g, Spare& spare, typename Number<kWhich>::Type* to,
                             const Shape& shape) {
  using T = typename Number<kWhich>::Type;
  if constexpr (is_paired(kWhich)) {
    const auto pair = [&] {
      if constexpr (sizeof(T) == sizeof(double)) return wide_pair_from(g);
      else return pair_from(g);
    }();
    const T both[2] = {finished<kWhich>(pair.first, shape), finished<kWhich>(pair.second, shape)};
    store(to, both);
  } else if constexpr (kWhich == kBits) {
    *to = bits_from(g);
  } else if constexpr (kWhich == kUniform) {
    *to = uniform_from(g);
  } else if constexpr (kWhich == kUniformDouble) {
    *to = wide_from(g);
  } else if constexpr (kWhich == kPoisson) {
    *to = alias_poisson(middle_from(g), shape);
  } else {
    *to = rounded_from(g, spare, shape);
  }
}

template <class Engine, Distribution kWhich>
RADDLE_SHARED void draw_sequence(const SequenceDraw& d, unsigned k) {
  constexpr int kEach = is_paired(kWhich) ? 2 : 1;
  const unsigned s = (d.first + k) % d.count;
  auto* const to = static_cast<typename Number<kWhich>::Type*>(d.to);
  Engine g;
  g.load(d.state, d.count, s);
  Spare spare;
  unsigned* const kept = d.state + static_cast<long long>(Engine::kWords) * d.count + s;
  if constexpr (kWhich == kPoissonNormal) spare = {float_of_bits(kept[0]), kept[d.count] != 0};
  for (long long unit = k; unit < d.units; unit += d.count)
    draw_unit<Engine, kWhich>(g, spare, to + kEach * unit, d.shape);
  g.store(d.state, d.count, s);
  if constexpr (kWhich == kPoissonNormal) {
    kept[0] = bits_of(spare.normal);
    kept[d.count] = spare.is_there ? 1 : 0;
  }
}

/// Four numbers of a group that starts with this step, of double precision.
template <Distribution kWhich>
RADDLE_SHARED void wide_philox_group(double (&out)[4], unsigned long long step,
                                     unsigned subsequence, unsigned long long key,
                                     const Shape& shape) {
  const Four x = philox(step, subsequence, key), y = philox(step + 1, subsequence, key);
  const double unit[4] = {unit_double(x.at[0], x.at[1]), unit_double(x.at[2], x.at[3]),
                          unit_double(y.at[0], y.at[1]), unit_double(y.at[2], y.at[3])};
  for (int i = 0; i < 4; i += 2) {
    if constexpr (kWhich == kUniformDouble) {
      out[i] = unit[i];
      out[i + 1] = unit[i + 1];
    } else {
      const Pair<double> pair = normal_pair(unit[i], 2.0 * unit[i + 1]);
      out[i] = finished<kWhich>(pair.first, shape);
      out[i + 1] = finished<kWhich>(pair.second, shape);
    }
  }
}
/// Likewise of all others.
template <Distribution kWhich>
RADDLE_SHARED void philox_group(typename Number<kWhich>::Type (&out)[4], unsigned long long step,
                                unsigned subsequence, unsigned long long key, const Shape& shape) {
  const Four x = philox(step, subsequence, key);
  for (int i = 0; i < 4; i += 2) {
    if constexpr (kWhich == kNormal || kWhich == kLogNormal || kWhich == kPoissonNormal) {
      const Pair<float> pair = normal_pair(x.at[i], x.at[i + 1]);
      if constexpr (kWhich == kPoissonNormal) {
        out[i] = rounded_poisson(pair.first, shape);
        out[i + 1] = rounded_poisson(pair.second, shape);
      } else {
        out[i] = finished<kWhich>(pair.first, shape);
        out[i + 1] = finished<kWhich>(pair.second, shape);
      }
    } else {
      for (int j = i; j < i + 2; ++j) {
        if constexpr (kWhich == kBits) out[j] = x.at[j];
        else if constexpr (kWhich == kUniform) out[j] = unit_float(x.at[j]);
        else out[j] = alias_poisson(unit_double(x.at[j]), shape);
      }
    }
  }
}
inline constexpr int philox_steps(Distribution which) {
  return which == kUniformDouble || which == kNormalDouble || which == kLogNormalDouble ? 2 : 1;
}

template <Distribution kWhich>
RADDLE_SHARED void draw_philox(const PhiloxDraw& d, unsigned k) {
  using T = typename Number<kWhich>::Type;
  const unsigned s = (d.first + k) % d.count;
  // The offset is a position in the whole sequence: those before it have made one step more.
  unsigned long long step = d.offset / d.count + (s < d.offset % d.count ? 1 : 0) + d.used[s];
  const unsigned long long start = step;
  T* const to = static_cast<T*>(d.to);
  const long long end = d.skipped + d.units;
  for (long long group = k; group * 4 < end; group += d.count) {
    T out[4];
    if constexpr (philox_steps(kWhich) == 2)
      wide_philox_group<kWhich>(out, step, s, d.seed, d.shape);
    else philox_group<kWhich>(out, step, s, d.seed, d.shape);
    const long long at = group * 4;
    if (at >= d.skipped && at + 4 <= end) {
      store(to + (at - d.skipped), out);
    } else {
      for (int i = 0; i < 4; ++i)
        if (at + i >= d.skipped && at + i < end) to[at + i - d.skipped] = out[i];
    }
    // The next call goes on within a group that is not full.
    if (at + 4 <= end) step += philox_steps(kWhich);
  }
  d.used[s] += step - start;
}

}  // namespace raddle::curand
