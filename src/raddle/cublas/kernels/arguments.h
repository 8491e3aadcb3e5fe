// What host code and kernels say to each other. Plain types: both compilers lay them out alike.
#pragma once

namespace raddle::cublas {

/// cudaDataType_t, of what we have.
enum DataType : int {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kS8 = 3,
  kS32 = 10,
  kBF16 = 14,
};

/// alpha or beta: a number, or where the device finds it.
struct Scale {
  const void* at;  ///< in device memory; null: `value`
  double value;
  DataType type;  ///< of what lies there
};

/// One matrix for each of a batch: `stride` elements apart, or behind an array of pointers.
struct Operand {
  const void* base;
  long long stride;
  int ld;
  int is_array;
};

enum Activation : int { kNoActivation, kRelu, kGelu };

/// D = activation(alpha op(A) op(B) + beta C + bias), matrices by columns.
struct Gemm {
  Operand a, b, c, d;
  int m, n, k;
  int first;  ///< of the batch, that block z = 0 does
  int transposed_a, transposed_b;
  DataType out;  ///< of C and D
  Activation activation;
  Scale alpha, beta;
  const void* bias;  ///< m numbers like D's, or null
  DataType bias_type;
};

/// C = alpha op(A) + beta op(B).
struct Geam {
  const void *a, *b;
  void* c;
  long long ld_a, ld_b, ld_c;
  int m, n;
  int transposed_a, transposed_b;
  Scale alpha, beta;
};
inline constexpr int kGeamTile = 32;
inline constexpr int kGeamThreads = 256;

/// A vector: element i is at[i * step]; the host has put `at` where element 0 is.
struct Vector {
  void* at;
  long long step;
};

/// What the blocks of a reduction leave, and where its result goes.
inline constexpr int kReductionBlocks = 256;
inline constexpr int kReductionThreads = 256;
inline constexpr int kPartialBytes = 32;  ///< of a block

/// Rows of a block of gemv, and the threads that share a row.
inline constexpr int kGemvRows = 32;
inline constexpr int kGemvSlices = 8;
inline constexpr int kGemvThreads = 128;  ///< of a column, transposed

/// Sides of the tiles of C that a block makes.
inline constexpr int kSmallTile = 64;
inline constexpr int kLargeTile = 128;
inline constexpr int kSimtThreads = 256;
/// With matrix instructions; a warp makes 32 columns of the tile, and half of its rows.
inline constexpr int tensor_threads(int tile) { return tile * 2; }
/// That an SM is to hold: ptxas gives a thread 128 registers, or of large tiles some 170.
inline constexpr int tensor_blocks(int tile) { return tile == kLargeTile ? 1 : 4; }

}  // namespace raddle::cublas
