#include "raddle/exec/lanes/products.h"

#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec::RADDLE_ISA {

namespace {
using Vector = f64 __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
constexpr u32 kWide = kVectorBytes / sizeof(f64);
/// Sums at once: eight or more additions that do not wait for one another.
constexpr u32 kRows = kWide == 8 ? 8 : 4, kColumns = 8, kParts = kColumns / kWide;
}  // namespace

void add_products(const RealProduct& product) {
  const RealProduct p = product;
  for (u32 row = 0; row < p.rows; row += kRows)
    for (u32 column = 0; column < p.columns; column += kColumns) {
      const f64* left = p.left + row * p.depth;
      const f64* right = p.right + column;
      f64* const sums = p.sums + row * p.pitch + column;
      Vector sum[kRows][kParts];
      RADDLE_UNROLL for (u32 i = 0; i < kRows; ++i) RADDLE_UNROLL for (u32 j = 0; j < kParts; ++j)
          sum[i][j] = *reinterpret_cast<const Vector*>(sums + i * p.pitch + j * kWide);
      for (u32 k = 0; k < p.depth; ++k, right += p.pitch)
        RADDLE_UNROLL for (u32 j = 0; j < kParts; ++j) {
          const Vector factor = *reinterpret_cast<const Vector*>(right + j * kWide);
          RADDLE_UNROLL for (u32 i = 0; i < kRows; ++i) sum[i][j] += left[i * p.depth + k] * factor;
        }
      RADDLE_UNROLL for (u32 i = 0; i < kRows; ++i) RADDLE_UNROLL for (u32 j = 0; j < kParts; ++j) *
          reinterpret_cast<Vector*>(sums + i * p.pitch + j * kWide) = sum[i][j];
    }
}

void widen_halves(const u16* halves, u32 count, f64* values) {
  for (u32 i = 0; i < count; ++i) values[i] = from_f16(halves[i]);
}

void take_sums(const f32* even, const f32* odd, f64* sums, u32 pitch) {
  for (u32 row = 0; row < 8; ++row, sums += pitch) RADDLE_UNROLL for (u32 t = 0; t < 4; ++t) {
      sums[2 * t] = even[4 * row + t];
      sums[2 * t + 1] = odd[4 * row + t];
    }
}
void give_sums(const f64* sums, u32 pitch, f32* even, f32* odd) {
  for (u32 row = 0; row < 8; ++row, sums += pitch) RADDLE_UNROLL for (u32 t = 0; t < 4; ++t) {
      even[4 * row + t] = canonical(f32(sums[2 * t]));
      odd[4 * row + t] = canonical(f32(sums[2 * t + 1]));
    }
}

}  // namespace raddle::exec::RADDLE_ISA
