// What the descriptors of cublasLt hold. Programs may keep them in structures of their own, so that
// sizes are NVIDIA's.
#pragma once
#include <type_traits>

#include "raddle/cublas/product.h"

namespace raddle::cublas {

/// cublasLtOrder_t, of what we have.
enum Order : int { kByColumns = 0, kByRows = 1 };

struct Layout {
  int type = kF32;
  int order = kByColumns;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
  int batch = 1;
  std::int64_t stride = 0;
};

/// cublasLtEpilogue_t: bits.
enum Epilogue : int {
  kEpilogueDefault = 1,
  kEpilogueRelu = 2,
  kEpilogueBias = 4,
  kEpilogueGelu = 32
};

struct MatmulDescription {
  int compute = kCompute32F;
  int scale_type = kF32;
  int pointer_mode = kHostPointers;
  int op_a = kPlain, op_b = kPlain, op_c = kPlain;
  int fill = 2;  ///< CUBLAS_FILL_MODE_FULL, the only one
  int epilogue = kEpilogueDefault;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  int bias_type = -1;  ///< -1: as D has it
  int multiprocessors = 0;
  std::int8_t fast_accumulation = 0;
};

struct Preference {
  int search_mode = 0;
  std::uint64_t workspace_bytes = 0;
  int reduction_schemes = -1;
  int alignments[4] = {256, 256, 256, 256};
  float waves = 0;
  std::uint64_t implementations = ~0ULL;
};

static_assert(sizeof(Layout) <= 8 * 8 && std::is_trivially_copyable_v<Layout>);
static_assert(sizeof(MatmulDescription) <= 32 * 8);
static_assert(sizeof(Preference) <= 8 * 8);

}  // namespace raddle::cublas
