// Differences of blocks of 8 x 8 pixels from those of 4 x 4 pixels. See README.md.
#include "common/cuda_lite.h"

// A row holds one block's differences at all positions of the search: two of 16 bits a word. Rows
// are 16 bytes beyond a multiple of 128, so what a warp reads or writes lies mostly in two lines.
constexpr int kWords = 545, kRow = 548;
// Rows of a macroblock in each region; the regions lie one after the other, of all macroblocks.
constexpr int kRows8x8 = 4, kRows8x4 = 8, kRows4x8 = 8, kRows4x4 = 16;
constexpr int kFirst8x8 = 5, kFirst8x4 = kFirst8x8 + kRows8x8, kFirst4x8 = kFirst8x4 + kRows8x4,
              kFirst4x4 = kFirst4x8 + kRows4x8;

// A block is a macroblock, a warp one of its quarters: four rows come in, five go out. No half of a
// sum passes 16 bits, so one addition adds both.
extern "C" __global__ void sad_larger_8(unsigned* sads) {
  const int macroblocks = static_cast<int>(gridDim.x * gridDim.y);
  const int macroblock = static_cast<int>(blockIdx.y * gridDim.x + blockIdx.x);
  const int quarter = static_cast<int>(threadIdx.y), tx = quarter % 2, ty = quarter / 2;
  const int row4x4 = kFirst4x4 * macroblocks + kRows4x4 * macroblock + 8 * ty + 2 * tx;
  const int row4x8 = kFirst4x8 * macroblocks + kRows4x8 * macroblock + 2 * quarter;
  const int row8x4 = kFirst8x4 * macroblocks + kRows8x4 * macroblock + 2 * quarter;
  const int row8x8 = kFirst8x8 * macroblocks + kRows8x8 * macroblock + quarter;
  const unsigned* from = sads + row4x4 * kRow;
  unsigned* to4x8 = sads + row4x8 * kRow;
  unsigned* to8x4 = sads + row8x4 * kRow;
  unsigned* to8x8 = sads + row8x8 * kRow;
#pragma unroll 1
  for (int s = static_cast<int>(threadIdx.x); s < kWords; s += 32) {
    const unsigned north_west = from[s], north_east = from[s + kRow];
    const unsigned south_west = from[s + 4 * kRow], south_east = from[s + 5 * kRow];
    const unsigned west = north_west + south_west, east = north_east + south_east;
    to4x8[s] = west;
    to4x8[s + kRow] = east;
    to8x4[s] = north_west + north_east;
    to8x4[s + kRow] = south_west + south_east;
    to8x8[s] = west + east;
  }
}
