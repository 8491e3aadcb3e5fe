// What matrix instructions do (PTX ISA 9.0, 9.7.14).
#include "raddle/exec/slow/matrix.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>

#define RADDLE_ISA scalar
#include "raddle/base/error.h"
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {

namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

constexpr std::size_t kMaxElements = 32 * 256;  // of one matrix: 16 x 256 single bits, 32 x 16

s64 integer_of(Element element, u32 bits) {
  switch (element) {
    case Element::S8:
      return static_cast<std::int8_t>(bits);
    case Element::S4:
      return static_cast<std::int32_t>(bits << 28) >> 28;
    case Element::S32:
      return static_cast<std::int32_t>(bits);
    default:
      return bits;
  }
}

/// value(matrix index, bits of the element) for every element of the fragment.
template <class F>
void read_fragment(const char* frame, const FragmentRegisters& from, F value) {
  const Fragment& f = *from.fragment;
  RADDLE_ASSERT(from.at.size() == f.registers);
  RADDLE_ASSERT(f.place.size() == std::size_t{kLanes} * f.per_lane());
  const unsigned bits = bits_of(f.element);
  const u32 mask = bits == 32 ? ~0u : (1u << bits % 32) - 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u16* place = f.place.data() + std::size_t{lane} * f.per_lane();
    for (unsigned r = 0; r < f.registers; ++r) {
      u32 word = lane_value<u32>(frame, from.at[r], lane);
      for (unsigned i = 0; i < f.per_register; ++i) {
        value(*place++, word & mask);
        word = bits == 32 ? 0 : word >> bits;
      }
    }
  }
}
/// Registers of the fragment from bits(matrix index), in the lanes of `mask`.
template <class F>
void write_fragment(char* frame, u32 mask, const FragmentRegisters& to, F value) {
  const Fragment& f = *to.fragment;
  RADDLE_ASSERT(to.at.size() == f.registers);
  RADDLE_ASSERT(f.place.size() == std::size_t{kLanes} * f.per_lane());
  const unsigned bits = bits_of(f.element);
  each_lane(mask, [&](unsigned lane) {
    const u16* place = f.place.data() + std::size_t{lane} * f.per_lane();
    for (unsigned r = 0; r < f.registers; ++r) {
      u32 word = 0;
      for (unsigned i = 0; i < f.per_register; ++i) word |= u32{value(*place++)} << bits * i;
      set_lane(frame, to.at[r], lane, word);
    }
  });
}

}  // namespace

namespace {
/// f(what gives the value of bits of such an element).
template <class F>
void with_values(Element element, F f) {
  switch (element) {
    case Element::F16:
      return f([](u32 bits) -> double { return scalar::from_f16(bits); });
    case Element::BF16:
      return f([](u32 bits) -> double { return scalar::from_bf16(bits); });
    case Element::TF32:  // the lower bits take no part
      return f([](u32 bits) -> double { return std::bit_cast<float>(bits & 0xffffe000u); });
    case Element::E4M3:
      return f([](u32 bits) -> double { return scalar::from_e4m3(bits); });
    case Element::E5M2:
      return f([](u32 bits) -> double { return scalar::from_e5m2(bits); });
    default:
      return f([](u32 bits) -> double { return std::bit_cast<float>(bits); });
  }
}
/// f(what gives the bits of a value).
template <class F>
void with_bits(Element element, F f) {
  if (element == Element::F16) return f([](double value) -> u32 { return scalar::to_f16(value); });
  f([](double value) { return std::bit_cast<u32>(scalar::canonical(static_cast<float>(value))); });
}
}  // namespace

void element_values(Element element, const u32* bits, unsigned count, double* values) {
  with_values(element, [&](auto value) {
    for (unsigned i = 0; i < count; ++i) values[i] = value(bits[i]);
  });
}
void element_bits(Element element, const double* values, unsigned count, u32* bits) {
  with_bits(element, [&](auto bits_of_value) {
    for (unsigned i = 0; i < count; ++i) bits[i] = bits_of_value(values[i]);
  });
}

namespace {
/// The lanes of a register, two halves each, at once.
void read_halves(const SlowRun& run, const FragmentRegisters& from, double* to) {
  const Fragment& f = *from.fragment;
  RADDLE_ASSERT(f.per_register == 2 && f.place.size() == std::size_t{kLanes} * f.per_lane());
  std::array<u16, 2 * kLanes> halves;
  std::array<double, 2 * kLanes> values;
  for (unsigned r = 0; r < f.registers; ++r) {
    std::memcpy(halves.data(), run.frame + from.at[r], sizeof halves);
    run.context->engine->widen_halves(halves.data(), halves.size(), values.data());
    const u16* place = f.place.data() + 2 * r;
    for (unsigned lane = 0; lane < kLanes; ++lane, place += f.per_lane()) {
      to[place[0]] = values[2 * lane];
      to[place[1]] = values[2 * lane + 1];
    }
  }
}
}  // namespace

void MatrixProduct::real(const SlowRun& run) const {
  const unsigned rows = d.fragment->rows, columns = d.fragment->columns;
  const unsigned products = d.fragment->products;
  alignas(64) std::array<double, 32 * 32> left;
  alignas(64) std::array<double, 32 * 32> right;
  alignas(64) std::array<double, 32 * 32> sum;
  const auto read = [&](const FragmentRegisters& from, auto& to) {
    if (from.fragment->element == Element::F16) return read_halves(run, from, to.data());
    with_values(from.fragment->element, [&](auto value) {
      read_fragment(run.frame, from, [&](u16 at, u32 bits) { to[at] = value(bits); });
    });
  };
  read(a, left);
  read(b, right);
  read(c, sum);
  RADDLE_ASSERT(rows % 8 == 0 && columns % 8 == 0);
  for (unsigned p = 0; p < products; ++p)
    run.context->engine->add_products({.left = &left[p * rows * depth],
                                       .right = &right[p * depth * columns],
                                       .sums = &sum[p * rows * columns],
                                       .rows = rows,
                                       .depth = depth,
                                       .columns = columns,
                                       .pitch = columns});
  with_bits(d.fragment->element, [&](auto bits_of_value) {
    write_fragment(run.frame, run.mask, d, [&](u16 at) { return bits_of_value(sum[at]); });
  });
}

void MatrixProduct::whole(const SlowRun& run) const {
  const unsigned rows = d.fragment->rows, columns = d.fragment->columns;
  std::array<std::int32_t, kMaxElements> left, right;
  std::array<s64, 32 * 32> sum;
  read_fragment(run.frame, c, [&](u16 at, u32 bits) { sum[at] = integer_of(Element::S32, bits); });
  const auto read = [&](const FragmentRegisters& from, auto& to) {
    read_fragment(run.frame, from, [&](u16 at, u32 word) {
      to[at] = static_cast<std::int32_t>(integer_of(from.fragment->element, word));
    });
  };
  read(a, left);
  read(b, right);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned k = 0; k < depth; ++k) {
      const std::int32_t x = left[i * depth + k];
      const std::int32_t* const y = &right[k * columns];
      s64* const out = &sum[i * columns];
      for (unsigned j = 0; j < columns; ++j)
        out[j] += bits == Bits::Xor ? x ^ y[j] : bits == Bits::And ? x & y[j] : x * y[j];
    }
  write_fragment(run.frame, run.mask, d, [&](u16 at) {
    const s64 v = sum[at];
    return static_cast<u32>(satfinite ? std::clamp<s64>(v, INT32_MIN, INT32_MAX) : v);
  });
}

void MatrixProduct::wide(const SlowRun& run) const {
  const unsigned columns = d.fragment->columns;
  std::array<double, 16 * 16> left{}, right{}, sum{};
  const auto read = [&](const FragmentRegisters& from, auto& to) {
    const Fragment& f = *from.fragment;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned r = 0; r < f.registers; ++r)
        to[f.place[lane * f.registers + r]] = lane_value<double>(run.frame, from.at[r], lane);
  };
  read(a, left);
  read(b, right);
  read(c, sum);
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(kModes[rounding]);
  for (unsigned i = 0; i < d.fragment->rows; ++i)
    for (unsigned j = 0; j < columns; ++j) {
      volatile double out = sum[i * columns + j];
      for (unsigned k = 0; k < depth; ++k)
        out = std::fma(left[i * depth + k], right[k * columns + j], out);
      sum[i * columns + j] = out;
    }
  std::fesetround(FE_TONEAREST);
  const Fragment& f = *d.fragment;
  each_lane(run.mask, [&](unsigned lane) {
    for (unsigned r = 0; r < f.registers; ++r)
      set_lane(run.frame, d.at[r], lane, scalar::canonical(sum[f.place[lane * f.registers + r]]));
  });
}

void MatrixProduct::run(const SlowRun& run) const {
  if (d.fragment->element == Element::F64) return wide(run);
  return is_integer(d.fragment->element) ? whole(run) : real(run);
}

// --- memory --------------------------------------------------------------------------------------
void MatrixAccess::run(const SlowRun& run) const {
  const Fragment& f = *data.fragment;
  const unsigned bits = bits_of(f.element);
  const unsigned bytes = std::max(1u, bits / 8), packed = std::max(1u, 8 / bits);
  SlowAccess access(run, address.space, store);
  each_lane(run.mask, [&](unsigned lane) {
    const u64 base = address.of(run.frame, lane);
    const u64 step = lane_value<u32>(run.frame, stride, lane);
    const u16* place = f.place.data() + std::size_t{lane} * f.per_lane();
    for (unsigned r = 0; r < f.registers; ++r) {
      u64 word = 0;
      const u64 value = bits == 64 ? lane_value<u64>(run.frame, data.at[r], lane)
                                   : lane_value<u32>(run.frame, data.at[r], lane);
      for (unsigned i = 0; i < f.per_register; i += packed, place += packed) {
        const unsigned row = *place / f.columns, column = *place % f.columns;
        const u64 index = row_major ? row * step + column : column * step + row;
        char* const at = access.at(lane, base + index * bits / 8, bytes);
        u64 element = value >> (bits * i) % 64;
        if (store) __builtin_memcpy(at, &element, bytes);
        element = 0;
        __builtin_memcpy(&element, at, bytes);
        word |= element << (bits * i) % 64;
      }
      if (store) continue;
      if (bits == 64) set_lane(run.frame, data.at[r], lane, word);
      else set_lane(run.frame, data.at[r], lane, static_cast<u32>(word));
    }
  });
  access.write(run.mask);
}

void MatrixRows::run(const SlowRun& run) const {
  SlowAccess access(run, address.space, store);
  std::array<std::array<u16, 8 * 8>, 4> matrices{};
  const auto each_row = [&](auto f) {
    for (unsigned n = 0; n < 8 * at.size(); ++n) {
      char* const row = access.at(n, address.of(run.frame, n), 16);
      f(row, &matrices[n / 8][n % 8 * 8]);
    }
  };
  const auto cell = [&](unsigned lane, unsigned half) {
    const unsigned along = lane % 4 * 2 + half, across = lane / 4;
    return transposed ? along * 8 + across : across * 8 + along;
  };
  if (!store) each_row([](const char* row, u16* m) { __builtin_memcpy(m, row, 16); });
  for (std::size_t n = 0; n < at.size(); ++n)
    each_lane(run.mask, [&](unsigned lane) {
      auto& m = matrices[n];
      if (store) {
        const u32 pair = lane_value<u32>(run.frame, at[n], lane);
        m[cell(lane, 0)] = static_cast<u16>(pair);
        m[cell(lane, 1)] = static_cast<u16>(pair >> 16);
      } else {
        set_lane(run.frame, at[n], lane, u32{m[cell(lane, 0)]} | u32{m[cell(lane, 1)]} << 16);
      }
    });
  if (store) each_row([](char* row, const u16* m) { __builtin_memcpy(row, m, 16); });
  access.write(run.mask);
}

void MatrixTranspose::run(const SlowRun& run) const {
  std::array<u16, 64> m{};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const u32 pair = lane_value<u32>(run.frame, a, lane);
    for (unsigned half = 0; half < 2; ++half)
      m[lane / 4 * 8 + lane % 4 * 2 + half] = static_cast<u16>(pair >> 16 * half);
  }
  each_lane(run.mask, [&](unsigned lane) {
    const unsigned row = lane / 4, column = lane % 4 * 2;
    set_lane(run.frame, d, lane, u32{m[column * 8 + row]} | u32{m[(column + 1) * 8 + row]} << 16);
  });
}

}  // namespace raddle::exec
