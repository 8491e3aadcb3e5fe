// Sparse matrices with vectors.
#include <algorithm>

#include "raddle/cusparse/products.h"

namespace raddle::cusparse {

namespace {

constexpr int kS8 = 3, kC16 = 6, kS32 = 10, kCB16 = 15;  // cudaDataType_t, of what is not here

/// NVIDIA's other combinations: 8-bit integers, complex numbers of 16 bits, real matrices with
/// complex vectors, and single precision with double.
bool is_known_elsewhere(int a, int b, int c, int compute) {
  if (a == kS8) return b == kS8 && (c == kS32 || c == kF32);
  if (a == kC16 || a == kCB16) return b == a && c == a && compute == kC32;
  if (b != c || b != compute) return false;
  return (a == kF32 && (b == kC32 || b == kF64)) || (a == kF64 && b == kC64);
}

}  // namespace

ProductTypes product_types(int a, int b, int c, int compute, const std::string& what) {
  const auto uniform = [&](int type) {
    return a == type && b == type && c == type && compute == type;
  };
  if (uniform(kF32)) return {"s", true};
  if (uniform(kF64)) return {"d", true};
  if (uniform(kC32)) return {"c", true};
  if (uniform(kC64)) return {"z", true};
  if (a == b && compute == kF32) {
    if (a == kF16 && c == kF16) return {"h", false};
    if (a == kF16 && c == kF32) return {"hs", true};
    if (a == kBF16 && c == kBF16) return {"b", false};
    if (a == kBF16 && c == kF32) return {"bs", true};
  }
  require(is_known_elsewhere(a, b, c, compute), kNotSupported);
  throw Refusal{lacks(what + " with types " + std::to_string(a) + ", " + std::to_string(b) + ", " +
                      std::to_string(c) + " and compute type " + std::to_string(compute))};
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

namespace {

/// cusparseSpMVAlg_t.
enum Algorithm : int {
  kDefault = 0,
  kCoo1 = 1,
  kCsr1 = 2,
  kCsr2 = 3,
  kCoo2 = 4,
  kSell = 5,
  kBsr = 6
};

struct Call {
  int op;
  const SparseMatrixDescriptor& a;
  const DenseVectorDescriptor &x, &y;
  int algorithm;
  ProductTypes types;
};

Call checked(const void* alpha, int op, const SparseMatrixDescriptor* a,
             const DenseVectorDescriptor* x, const void* beta, const DenseVectorDescriptor* y,
             int compute, int algorithm) {
  require(is_operation(op) && alpha != nullptr && beta != nullptr);
  require(algorithm >= kDefault && algorithm <= kBsr);
  Call out{op, given(a), given(x), given(y), algorithm, {}};
  require(x->size == columns_of(*a, op) && y->size == rows_of(*a, op));
  const bool of_coo = algorithm == kCoo1 || algorithm == kCoo2;
  require(algorithm == kDefault || of_coo == (a->format == kCoo), kNotSupported);
  require(algorithm != kSell && algorithm != kBsr, kNotSupported);
  out.types = product_types(a->type, x->type, y->type, compute, "cusparseSpMV");
  return out;
}

/// Whether blocks have equal numbers of entries, and leave carries in the caller's buffer.
bool splits_entries(const Call& c) {
  if (c.a.entries == 0 || !lines_are_rows(c.a, c.op)) return false;
  return c.a.format == kCoo || c.algorithm == kCsr2;
}
std::int64_t segment_blocks(const SparseMatrixDescriptor& a) {
  return (a.entries - 1) / kSegmentEntries + 1;
}
/// In the caller's buffer, where work is split by entries: what blocks leave, and for CSR the rows
/// that they start with.
struct SplitMemory {
  Carry* carries;
  long long* rows;
  std::size_t bytes;
};
SplitMemory split_memory(const Call& c, void* at) {
  if (!splits_entries(c)) return {};
  Buffer buffer(at);
  const std::int64_t blocks = segment_blocks(c.a);
  SplitMemory out{};
  out.carries = buffer.take<Carry>(2 * blocks);
  if (c.a.format != kCoo) out.rows = buffer.take<long long>(blocks + 1);
  out.bytes = buffer.bytes();
  return out;
}

/// Lanes of a row: the largest power of two that a row of the mean length keeps busy.
int lanes_for(const SparseMatrixDescriptor& a) {
  int lanes = 2;
  while (lanes < 32 && lanes * 2 * a.lines() <= a.entries) lanes *= 2;
  return lanes;
}

const char* module_of(const std::string& letters) {
  if (letters == "s" || letters == "d") return "spmv_real";
  return letters == "c" || letters == "z" ? "spmv_complex" : "spmv_half";
}

void multiply(Handle& handle, const Call& call, const Scale& alpha, const Scale& beta,
              void* buffer) {
  const std::int64_t y_size = call.y.size;
  if (y_size == 0) return;
  require(call.y.values != nullptr && (call.a.entries == 0 || call.x.values != nullptr));
  Spmv product{.a = sparse_of(call.a),
               .x = call.x.values,
               .y = call.y.values,
               .y_size = y_size,
               .alpha = alpha,
               .beta = beta,
               .conjugate = call.op == kConjugateTransposed};
  const char* const module = module_of(call.types.letters);
  const std::string stem = "sparse_" + call.types.letters, suffix = width_suffix(call.a);
  const bool by_rows = lines_are_rows(call.a, call.op), splits = splits_entries(call);
  if (by_rows && !splits && call.a.entries > 0) {
    const int lanes = lanes_for(call.a);
    launch(handle, module, stem + "spmv_csr_" + std::to_string(lanes) + suffix,
           {blocks_for(call.a.lines() * lanes, kSpmvThreads)}, kSpmvThreads, product);
    return;
  }
  if (!by_rows && !call.types.adds)
    throw Refusal{lacks("cusparseSpMV of a transposed matrix into 16-bit numbers")};
  require(!splits || buffer != nullptr);
  constexpr std::int64_t kMaxBlocks = 65535;
  launch(handle, module, stem + "scale",
         {static_cast<unsigned>(std::min<std::int64_t>(blocks_for(y_size), kMaxBlocks))}, kThreads,
         product.y, static_cast<long long>(y_size), beta);
  if (call.a.entries == 0) return;
  if (splits) {
    const auto blocks = static_cast<unsigned>(segment_blocks(call.a));
    const SplitMemory memory = split_memory(call, buffer);
    if (memory.rows != nullptr)
      launch(handle, "steps", "sparse_divide", {blocks_for(blocks + 1)}, kThreads, product.a,
             static_cast<int>(blocks), kSegmentEntries, memory.rows);
    const char* const word = call.a.format == kCoo ? "spmv_coo" : "spmv_csr_split";
    launch(handle, module, stem + word + suffix, {blocks}, kSpmvThreads, product,
           static_cast<const long long*>(memory.rows), memory.carries);
    launch(handle, module, stem + "spmv_carries", {blocks_for(2 * blocks)}, kThreads,
           static_cast<const Carry*>(memory.carries), static_cast<int>(2 * blocks), product.y);
  } else if (call.a.format == kCoo) {
    launch(handle, module, stem + "spmv_coo_transposed" + suffix,
           {blocks_for(call.a.entries, kSpmvThreads)}, kSpmvThreads, product);
  } else {
    constexpr int kShortLine = 16;  // entries; longer ones have a warp each
    const int lanes = call.a.entries < kShortLine * call.a.lines() ? 4 : 32;
    launch(handle, module, stem + "spmv_transposed_" + std::to_string(lanes) + suffix,
           {blocks_for(call.a.lines() * lanes, kSpmvThreads)}, kSpmvThreads, product);
  }
}

}  // namespace

extern "C" {

int raddle_cusparseSpMV_bufferSize(Handle* handle, int op, const void* alpha,
                                   const SparseMatrixDescriptor* a, const DenseVectorDescriptor* x,
                                   const void* beta, const DenseVectorDescriptor* y, int compute,
                                   int algorithm, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    given(bytes) =
        split_memory(checked(alpha, op, a, x, beta, y, compute, algorithm), nullptr).bytes;
  });
}

/// There is nothing to prepare: the kernels divide the work as they go.
int raddle_cusparseSpMV_preprocess(Handle* handle, int op, const void* alpha,
                                   const SparseMatrixDescriptor* a, const DenseVectorDescriptor* x,
                                   const void* beta, const DenseVectorDescriptor* y, int compute,
                                   int algorithm, void*) {
  return call(handle, [&](Handle&) { checked(alpha, op, a, x, beta, y, compute, algorithm); });
}

int raddle_cusparseSpMV(Handle* handle, int op, const void* alpha, const SparseMatrixDescriptor* a,
                        const DenseVectorDescriptor* x, const void* beta,
                        const DenseVectorDescriptor* y, int compute, int algorithm, void* buffer) {
  return call(handle, [&](Handle& h) {
    const Call c = checked(alpha, op, a, x, beta, y, compute, algorithm);
    multiply(h, c, scale_of(h, alpha, compute), scale_of(h, beta, compute), buffer);
  });
}

}  // extern "C"
