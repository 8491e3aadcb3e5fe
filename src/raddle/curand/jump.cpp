#include "raddle/curand/jump.h"

#include <algorithm>

#include "raddle/curand/kernels/seeds.h"

namespace raddle::curand {

namespace {

constexpr int kStateBits = 160;
constexpr int kXorwowLog = 67, kMrgLog = 76;  // of the steps between subsequences

BitMatrix identity() {
  BitMatrix out{std::vector<unsigned>(kXorwowJumpWords)};
  for (std::size_t bit = 0; bit < kStateBits; ++bit)
    out.columns[bit * 5 + bit / 32] = 1u << bit % 32;
  return out;
}
BitMatrix one_step() {
  BitMatrix out = identity();
  for (std::size_t bit = 0; bit < kStateBits; ++bit) {
    Xorwow g{};
    std::copy_n(&out.columns[bit * 5], 5, g.v);
    g.next();
    std::copy_n(g.v, 5, &out.columns[bit * 5]);
  }
  return out;
}
BitMatrix product(const BitMatrix& left, const BitMatrix& right) {
  BitMatrix out = right;
  for (std::size_t bit = 0; bit < kStateBits; ++bit) {
    unsigned column[5];
    std::copy_n(&right.columns[bit * 5], 5, column);
    left.apply(column);
    std::copy_n(column, 5, &out.columns[bit * 5]);
  }
  return out;
}

MrgMatrix mrg_identity() { return {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}; }
MrgMatrix product(const MrgMatrix& left, const MrgMatrix& right) {
  MrgMatrix out{};
  for (std::size_t which = 0; which < 2; ++which) {
    const std::uint64_t modulus = which == 0 ? kMrgModulus1 : kMrgModulus2;
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t column = 0; column < 3; ++column) {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < 3; ++i)
          sum += static_cast<std::uint64_t>(left[which * 9 + row * 3 + i]) *
                 right[which * 9 + i * 3 + column] % modulus;
        out[which * 9 + row * 3 + column] = static_cast<unsigned>(sum % modulus);
      }
  }
  return out;
}
MrgMatrix mrg_step() {
  MrgMatrix out{};
  for (std::size_t column = 0; column < 3; ++column) {
    Mrg32k3a g{};
    g.s[column] = g.s[3 + column] = 1;
    g.next();
    for (std::size_t row = 0; row < 3; ++row) {
      out[row * 3 + column] = g.s[row];
      out[9 + row * 3 + column] = g.s[3 + row];
    }
  }
  return out;
}

/// base^exponent, by squares.
template <class Matrix>
Matrix power(Matrix base, std::uint64_t exponent, Matrix out) {
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = product(base, out);
    if (exponent > 1) base = product(base, base);
  }
  return out;
}
template <class Matrix>
Matrix squared(Matrix base, int times) {
  for (int i = 0; i < times; ++i) base = product(base, base);
  return base;
}

/// Powers 0 .. count - 1 of the jump, one after the other; returns the next.
template <class Matrix, class Words>
Matrix powers(const Matrix& jump, unsigned count, Matrix out, std::vector<unsigned>& to,
              const Words& words) {
  for (unsigned i = 0; i < count; ++i) {
    const auto& one = words(out);
    to.insert(to.end(), one.begin(), one.end());
    out = product(jump, out);
  }
  return out;
}

}  // namespace

void BitMatrix::apply(unsigned (&state)[5]) const {
  unsigned from[5];
  std::copy_n(state, 5, from);
  multiply_bits(columns.data(), from, state);
}

BitMatrix xorwow_steps(std::uint64_t steps) { return power(one_step(), steps, identity()); }

const XorwowJumps& xorwow_jumps() {
  static const XorwowJumps jumps = [] {
    XorwowJumps out;
    out.row = powers(
        squared(one_step(), kXorwowLog), kXorwowColumns, identity(), out.columns,
        [](const BitMatrix& m) -> const auto& { return m.columns; });
    return out;
  }();
  return jumps;
}

MrgMatrix mrg_steps(std::uint64_t steps) { return power(mrg_step(), steps, mrg_identity()); }

void advance(Mrg32k3a& to, const MrgMatrix& matrix) {
  const Mrg32k3a from = to;
  multiply_mod(matrix.data(), from.s, to.s, kMrgModulus1);
  multiply_mod(matrix.data() + 9, from.s + 3, to.s + 3, kMrgModulus2);
}

const MrgJumps& mrg_jumps() {
  static const MrgJumps jumps = [] {
    MrgJumps out;
    out.row = powers(
        squared(mrg_step(), kMrgLog), kMrgColumns, mrg_identity(), out.columns,
        [](const MrgMatrix& m) -> const auto& { return m; });
    return out;
  }();
  return jumps;
}

}  // namespace raddle::curand
