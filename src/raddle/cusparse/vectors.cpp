// Sparse vectors with dense ones.
#include <algorithm>

#include "raddle/cusparse/descriptors.h"

using namespace raddle::cusparse;

namespace {

constexpr const char* kModule = "vectors";

/// A thread for each element, where the grid may be that large; else they take several.
Dim3 grid_for(std::int64_t n) {
  constexpr std::int64_t kMaxBlocks = 65535;
  return {static_cast<unsigned>(std::min<std::int64_t>(blocks_for(n), kMaxBlocks))};
}

/// Both vectors are of one type and size.
void check(const SparseVectorDescriptor* x, const DenseVectorDescriptor* y) {
  require(given(x).size == given(y).size);
  require(x->type == y->type, kNotSupported);
}

void each(Handle& h, const std::string& word, const SparseVectorDescriptor& x, void* y) {
  const std::string letter = move_letter_of(x.type, "cusparse" + word);
  if (x.entries > 0)
    launch(h, kModule, "sparse_" + letter + word, grid_for(x.entries), kThreads, vector_of(x), y);
}

/// The result lies where the pointer mode says.
void dot(Handle& h, int op, const SparseVectorDescriptor& x, const DenseVectorDescriptor& y,
         void* result) {
  constexpr std::int64_t kMaxBlocks = 256, kOfThread = 4;
  const std::size_t bytes = bytes_of(x.type);
  const std::string stem = "sparse_" + letter_of(x.type, "cusparseSpVV");
  int blocks = 0;
  if (x.entries > 0)
    blocks = static_cast<int>(
        std::min<std::int64_t>(blocks_for(x.entries, kThreads * kOfThread), kMaxBlocks));
  void* const partial = h.device.room(h.stream);
  static_assert((kMaxBlocks + 1) * 16 <= Device::kRoomBytes);  // 16: the largest number
  const bool on_host = h.pointer_mode == kHostPointers;
  void* const to = on_host ? static_cast<char*>(partial) + kMaxBlocks * 16 : result;
  if (blocks > 0)
    launch(h, kModule, stem + "dot", {static_cast<unsigned>(blocks)}, kThreads, vector_of(x),
           y.values, op == kConjugateTransposed ? 1 : 0, partial);
  launch(h, kModule, stem + "dot_end", {}, kThreads, blocks, static_cast<const void*>(partial), to);
  if (!on_host) return;
  copy(result, to, bytes, h.stream);
  wait(h.stream);
}

void check_dot(int op, const SparseVectorDescriptor* x, const DenseVectorDescriptor* y,
               const void* result, int compute) {
  require(is_operation(op) && result != nullptr);
  // Of real numbers there is nothing to conjugate.
  require(op != kTransposed || !is_complex(compute), kNotSupported);
  check(x, y);
  letter_of(x->type, "cusparseSpVV");
  require(compute == x->type, kNotSupported);
}

}  // namespace

extern "C" {

int raddle_cusparseAxpby(Handle* handle, const void* alpha, const SparseVectorDescriptor* x,
                         const void* beta, const DenseVectorDescriptor* y) {
  return call(handle, [&](Handle& h) {
    check(x, y);
    const std::string stem = "sparse_" + letter_of(x->type, "cusparseAxpby");
    const Scale by = scale_of(h, alpha, x->type), keep = scale_of(h, beta, x->type);
    const bool keeps_all = keep.at == nullptr && keep.real == 1 && keep.imaginary == 0;
    if (y->size > 0 && !keeps_all)
      launch(h, kModule, stem + "scal", grid_for(y->size), kThreads, y->values,
             static_cast<long long>(y->size), keep);
    if (x->entries > 0)
      launch(h, kModule, stem + "axpy", grid_for(x->entries), kThreads, vector_of(*x), y->values,
             by);
  });
}
int raddle_cusparseGather(Handle* handle, const DenseVectorDescriptor* y,
                          const SparseVectorDescriptor* x) {
  return call(handle, [&](Handle& h) {
    check(x, y);
    each(h, "gather", *x, y->values);
  });
}
int raddle_cusparseScatter(Handle* handle, const SparseVectorDescriptor* x,
                           const DenseVectorDescriptor* y) {
  return call(handle, [&](Handle& h) {
    check(x, y);
    each(h, "scatter", *x, y->values);
  });
}
int raddle_cusparseRot(Handle* handle, const void* c, const void* s,
                       const SparseVectorDescriptor* x, const DenseVectorDescriptor* y) {
  return call(handle, [&](Handle& h) {
    check(x, y);
    const std::string letter = letter_of(x->type, "cusparseRot");
    const Scale cosine = scale_of(h, c, x->type), sine = scale_of(h, s, x->type);
    if (x->entries > 0)
      launch(h, kModule, "sparse_" + letter + "rot", grid_for(x->entries), kThreads, vector_of(*x),
             y->values, cosine, sine);
  });
}

/// Sums of blocks lie in memory of the handle's own.
int raddle_cusparseSpVV_bufferSize(Handle* handle, int op, const SparseVectorDescriptor* x,
                                   const DenseVectorDescriptor* y, const void* result, int compute,
                                   std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    check_dot(op, x, y, result, compute);
    given(bytes) = 0;
  });
}
int raddle_cusparseSpVV(Handle* handle, int op, const SparseVectorDescriptor* x,
                        const DenseVectorDescriptor* y, void* result, int compute, void*) {
  return call(handle, [&](Handle& h) {
    check_dot(op, x, y, result, compute);
    dot(h, op, *x, *y, result);
  });
}

}  // extern "C"
