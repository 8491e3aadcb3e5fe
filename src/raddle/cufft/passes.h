// Transforms along one dimension, as launches.
#pragma once
#include "raddle/cufft/transform.h"

namespace raddle::cufft {

/// One end of a transform: `count` elements of a line, `step` apart.
struct Side {
  Location at;
  Kind kind = kComplex;
  long long step = 1;
  int count = 0;
  Swap swap = Swap::kNever;
};

/// Complex transforms of length n of the lines that `loops` count (first elements are not theirs).
/// The kinds of the ends may say that less is read or written, or real numbers.
struct Lines {
  int n;
  Side from, to;
  std::vector<Axis> loops;
};

/// Numbers to multiply with before and after, of Bluestein's algorithm.
struct Factors {
  const void *in = nullptr, *out = nullptr;
  bool swap_before = false;
  bool some = false;  ///< in a plan that is only measured, too
};

class Passes {
 public:
  Passes(bool in_double, Tables& tables, Program& program)
      : in_double_(in_double), tables_(tables), program_(program) {}

  /// Of any length.
  void transform(const Lines& lines);
  /// Of 2n real numbers (kPair) to n + 1 complex ones, and back.
  void real_forward(const Lines& lines);
  void real_inverse(const Lines& lines);

  /// Memory of the work area until `release`.
  Location take(std::size_t elements);
  std::size_t taken() const { return taken_; }
  void release(std::size_t taken) { taken_ = taken; }

  /// Arrays of `count` complex numbers for the loops' lines: side and loops that lead to them.
  Side in_between(const Side& from, std::vector<Axis>& loops, int count);

 private:
  bool fits(const Lines& lines, int n) const;
  void several(const Lines& lines, const Factors& factors);
  void convolve(const Lines& lines);
  void pairs(const char* word, const Lines& lines);
  Step single(const Lines& lines, int n, const Factors& factors) const;
  /// Of arrays of `array` elements. With an order the first axis counts what roots depend on.
  void add(Step step, const std::vector<Axis>& axes, int array, long long root_order);
  std::size_t complex_bytes() const { return in_double_ ? 16 : 8; }

  bool in_double_;
  Tables& tables_;
  Program& program_;
  std::size_t taken_ = 0;
};

}  // namespace raddle::cufft
