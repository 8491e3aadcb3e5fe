// What host code and kernels agree on. Plain types: both compilers lay them out alike.
//
// A pass does the transforms of all lines of an array, each of `n` complex numbers. A block takes
// some lines into shared memory at once.
#pragma once

namespace raddle::cufft {

/// What the elements of a line are in memory.
enum Kind : int {
  kComplex,
  kReal,       ///< imaginary parts are 0, or dropped
  kPair,       ///< real numbers; two of them are one complex element
  kHermitian,  ///< of a line's complex numbers only the first half lies there
  kHalf,       ///< `n` + 1 complex numbers: the spectrum of the 2n real numbers of kPair
};

/// One of the dimensions in which lines are counted. Its strides lead to another array (in elements
/// of what lies there), or to another element of a line that several passes share.
struct Axis {
  long long in = 0, out = 0;
  int in_first = 0, out_first = 0;
  unsigned count = 1;
};
inline constexpr int kMaxAxes = 6;  ///< two other dimensions, the batch, three of a split line

/// Roots of unity w^e, w = exp(-2 pi i / order), as coarse[e >> bits] * fine[e & (1 << bits) - 1].
struct Roots {
  const void *coarse, *fine;
  int bits;
};

/// Divides numbers of less than 16 bits: mul.hi with `magic`, and the number itself, by 1. Nothing
/// to branch on, of which compilers would make loops of their own.
struct Divisor {
  unsigned by;
  unsigned magic;  ///< floor(2^32 / by) + 1, or 0
  unsigned ones;   ///< all ones when `by` is 1, or 0
};
inline Divisor divisor(unsigned by) {
  if (by == 1) return {by, 0, ~0u};
  return {by, static_cast<unsigned>((1ull << 32) / by + 1), 0};
}

/// A step of the Stockham algorithm: butterflies of `radix` elements that lie `span` = n / radix
/// apart, after which `done` * radix elements belong together.
struct Stage {
  int radix;
  int twiddles;  ///< where the stage's begin in Pass::twiddles
  Divisor done, span;
};
inline constexpr int kMaxStages = 12;

struct Pass {
  const void* in;
  void* out;
  long long in_step, out_step;  ///< between the elements of an array
  int in_jump, out_jump;        ///< between those elements of it that are a line
  Axis axes[kMaxAxes];
  int axis_count;
  unsigned line_count;
  int n;
  Kind in_kind, out_kind;
  int in_count, out_count;  ///< elements of the array: others are 0, and not written
  /// Real and imaginary part change roles: so a forward transform is an inverse one.
  int swap_in, swap_out;

  const void* twiddles;
  Stage stages[kMaxStages];
  int stage_count;
  /// Element k is multiplied with w^(k * r), r the line's number on this axis; -1: it is not.
  int root_axis;
  Roots roots;  ///< also of what splits pairs into spectra of real numbers

  /// Bluestein's algorithm: numbers to multiply elements with; null: none.
  const void *in_factors, *out_factors;
  const void* spectrum;  ///< of a convolution, between its two transforms in one kernel
  int swap_before_factors;

  int block_lines;  ///< of a block
  int pitch;        ///< between lines in shared memory, in elements
  /// Neighbouring threads take neighbouring lines, not elements.
  int in_by_lines, out_by_lines;
  Divisor by_n, by_lines, by_pairs;
};

/// Lines of a block that takes its elements by way of shared memory.
inline constexpr int kMaxBlockLines = 64;
/// Elements that a thread has in registers where lengths are powers of two.
inline constexpr int kEach = 8, kEachLog = 3;

/// An element more after every half or quarter of what a warp takes at once from the banks, 128
/// bytes: butterflies of 8 write without conflicts.
template <class T>
inline constexpr int kPadShift = sizeof(T) == 4 ? 4 : 3;

/// With those of the padding, and with one or a few more of each line.
template <class T>
constexpr int shared_elements(int tile) {
  return tile + (tile >> kPadShift<T>)+kMaxBlockLines;
}

inline constexpr int kPairThreads = 256;  ///< of the kernels that only split or join pairs
inline constexpr int kPairLines = 32;     ///< their lines where threads go by lines

}  // namespace raddle::cufft
