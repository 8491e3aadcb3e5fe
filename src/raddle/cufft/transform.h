// A plan as steps: launches of kernels, with where they read and write.
#pragma once
#include <string>
#include <vector>

#include "raddle/cufft/kernels/arguments.h"
#include "raddle/cufft/tables.h"

namespace raddle::cufft {

/// cufftType, which says the types of both ends.
enum Type : int {
  kC2C = 0x29,
  kR2C = 0x2a,
  kC2R = 0x2c,
  kZ2Z = 0x69,
  kD2Z = 0x6a,
  kZ2D = 0x6c,
};
inline bool is_double(Type type) { return type >= kZ2Z; }
inline bool is_complex(Type type) { return type == kC2C || type == kZ2Z; }
inline bool is_forward_real(Type type) { return type == kR2C || type == kD2Z; }

inline constexpr int kMaxRank = 3;

/// How the arrays of one end lie, in elements of its type (real or complex).
struct Layout {
  long long strides[kMaxRank];  ///< of the dimensions, the last of which is the innermost
  long long batch_stride;
};

struct Shape {
  int rank;
  long long n[kMaxRank];
  long long batch;
  Type type;
  Layout in, out;
};

enum class Buffer { kIn, kOut, kWork };
struct Location {
  Buffer buffer = Buffer::kWork;
  std::size_t offset = 0;  ///< bytes
};

enum class Swap { kNever, kIfInverse, kAlways };

struct Step {
  std::string module, kernel;
  Pass pass;  ///< without `in`, `out`, `swap_in` and `swap_out`
  Location in, out;
  Swap swap_in = Swap::kNever, swap_out = Swap::kNever;
  unsigned blocks = 1, threads = 1;
  bool has_factors = false,
       convolves = false;  ///< Bluestein's; a plan that is only measured has no addresses
};

struct Program {
  std::vector<Step> steps;
  std::size_t work_bytes = 0;
};

/// `pairs`: the real numbers lie at an address where two can be loaded or stored at once, which is
/// done where the strides allow it. Throws Refusal when a size is beyond what kernels count.
Program make_program(const Shape& shape, bool pairs, Tables& tables);

}  // namespace raddle::cufft
