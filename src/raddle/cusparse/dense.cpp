// Dense matrices from sparse ones, and back.
#include "raddle/cusparse/descriptors.h"
#include "raddle/cusparse/steps.h"

using namespace raddle::cusparse;

namespace {

constexpr const char* kModule = "dense";

void check(const SparseMatrixDescriptor* a, const DenseMatrixDescriptor* m, int algorithm) {
  require(given(a).rows == given(m).rows && a->columns == m->columns && algorithm == 0);
  require(a->type == m->type, kNotSupported);
}

/// Element (i, j) is that of line i of the sparse matrix.
Dense by_lines(const SparseMatrixDescriptor& a, const DenseMatrixDescriptor& m) {
  return dense_of(m, a.format == kCsc ? kTransposed : kPlain);
}

/// Offsets that the analysis leaves in the caller's buffer for the conversion.
struct Found {
  long long *offsets, *sums;
  std::size_t bytes;
};
Found found_of(const SparseMatrixDescriptor& a, void* at) {
  Buffer buffer(at);
  Found out{};
  out.offsets = buffer.take<long long>(a.lines() + 1);
  out.sums = buffer.take<long long>(scan_sums(a.lines()));
  out.bytes = buffer.bytes();
  return out;
}

}  // namespace

extern "C" {

int raddle_cusparseSparseToDense_bufferSize(Handle* handle, const SparseMatrixDescriptor* a,
                                            const DenseMatrixDescriptor* m, int algorithm,
                                            std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    check(a, m, algorithm);
    given(bytes) = 0;
  });
}
int raddle_cusparseSparseToDense(Handle* handle, const SparseMatrixDescriptor* a,
                                 const DenseMatrixDescriptor* m, int algorithm, void*) {
  return call(handle, [&](Handle& h) {
    check(a, m, algorithm);
    const std::string stem = "sparse_" + move_letter_of(a->type, "cusparseSparseToDense");
    if (a->rows == 0 || a->columns == 0) return;
    const Sparse from = sparse_of(*a);
    const Dense to = by_lines(*a, *m);
    const bool compressed = a->format != kCoo && a->entries > 0;
    launch(h, kModule, stem + (compressed ? "dense" : "dense_clear"), {blocks_for(from.lines * 32)},
           kThreads, from, to);
    if (!compressed && a->entries > 0)
      launch(h, kModule, stem + "dense_coo", {blocks_for(a->entries)}, kThreads, from, to);
  });
}

int raddle_cusparseDenseToSparse_bufferSize(Handle* handle, const DenseMatrixDescriptor* m,
                                            const SparseMatrixDescriptor* a, int algorithm,
                                            std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    check(a, m, algorithm);
    given(bytes) = found_of(*a, nullptr).bytes;
  });
}
/// The number of entries is the caller's to ask for afterwards: this waits for the stream.
int raddle_cusparseDenseToSparse_analysis(Handle* handle, const DenseMatrixDescriptor* m,
                                          SparseMatrixDescriptor* a, int algorithm, void* buffer) {
  return call(handle, [&](Handle& h) {
    check(a, m, algorithm);
    require(buffer != nullptr);
    const std::string letter = move_letter_of(a->type, "cusparseDenseToSparse");
    const Found found = found_of(*a, buffer);
    long long lines = a->lines(), entries = 0;
    if (lines > 0)
      launch(h, kModule, "sparse_" + letter + "nonzeros", {blocks_for(lines * 32)}, kThreads,
             by_lines(*a, *m), lines, static_cast<long long>(a->width()), found.offsets);
    scan(h, static_cast<const long long*>(found.offsets), lines, 0LL, found.offsets, found.sums);
    copy(&entries, found.offsets + lines, sizeof entries, h.stream);
    wait(h.stream);
    require(a->second_type == kIndex64 || entries <= kMaxIndex32, kInsufficientResources);
    a->entries = entries;
  });
}
int raddle_cusparseDenseToSparse_convert(Handle* handle, const DenseMatrixDescriptor* m,
                                         const SparseMatrixDescriptor* a, int algorithm,
                                         void* buffer) {
  return call(handle, [&](Handle& h) {
    check(a, m, algorithm);
    require(buffer != nullptr && a->first != nullptr);
    require(a->entries == 0 || (a->second != nullptr && a->values != nullptr));
    const std::string letter = move_letter_of(a->type, "cusparseDenseToSparse");
    const Sparse to = sparse_of(*a);
    const long long* const starts = found_of(*a, buffer).offsets;
    if (to.lines > 0)
      launch(h, kModule, "sparse_" + letter + "from_dense", {blocks_for(to.lines * 32)}, kThreads,
             by_lines(*a, *m), to, starts);
  });
}

}  // extern "C"
