// Sums of sparse matrices, of the older interface: csrgeam2.
#include "raddle/cusparse/descriptors.h"
#include "raddle/cusparse/steps.h"

using namespace raddle::cusparse;

namespace {

/// One of the matrices as the calls give them.
struct Operand {
  const LegacyDescriptor* descriptor;
  int entries;
  const void* values;
  const int *offsets, *columns;
};

Geam checked(int m, int n, const Operand& a, const Operand& b, const LegacyDescriptor* c,
             const int* c_offsets) {
  require(m >= 0 && n >= 0 && a.entries >= 0 && b.entries >= 0);
  for (const LegacyDescriptor* one : {a.descriptor, b.descriptor, c})
    require(given(one).type == 0, kMatrixTypeNotSupported);
  require(a.offsets != nullptr && b.offsets != nullptr && c_offsets != nullptr);
  require(a.entries == 0 || a.columns != nullptr);
  require(b.entries == 0 || b.columns != nullptr);
  Geam out{};
  out.a_offsets = a.offsets;
  out.a_columns = a.columns;
  out.a_values = a.values;
  out.b_offsets = b.offsets;
  out.b_columns = b.columns;
  out.b_values = b.values;
  out.c_offsets = const_cast<int*>(c_offsets);
  out.rows = m;
  out.a_base = a.descriptor->base;
  out.b_base = b.descriptor->base;
  out.c_base = c->base;
  return out;
}

/// The number of entries goes where the pointer mode says; for the host this waits.
void count(Handle& h, const Geam& g, int* total, void* workspace) {
  require(total != nullptr && workspace != nullptr);
  if (g.rows > 0)
    launch(h, "geam", "sparse_csrgeam2_count", {blocks_for(std::int64_t{32} * g.rows)}, kThreads,
           g);
  scan(h, static_cast<const int*>(g.c_offsets), g.rows, g.c_base, g.c_offsets,
       static_cast<int*>(workspace));
  const int* const end = g.c_offsets + g.rows;
  if (h.pointer_mode == kDevicePointers) {
    pick(h, narrow(end), nullptr, 1, -g.c_base, total);
    return;
  }
  copy(total, end, sizeof *total, h.stream);
  wait(h.stream);
  *total -= g.c_base;
}

void add(Handle& h, const char* kernel, Geam g, const void* alpha, const void* beta, void* values,
         int* columns, int type) {
  g.alpha = scale_of(h, alpha, type);
  g.beta = scale_of(h, beta, type);
  g.c_values = values;
  g.c_columns = columns;
  if (g.rows > 0) launch(h, "geam", kernel, {blocks_for(std::int64_t{32} * g.rows)}, kThreads, g);
}

}  // namespace

#define GEAM(L, l, T, cuda_type)                                                                  \
  int raddle_cusparse##L##csrgeam2_bufferSizeExt(                                                 \
      Handle* handle, int m, int n, const T*, const LegacyDescriptor*, int, const T*, const int*, \
      const int*, const T*, const LegacyDescriptor*, int, const T*, const int*, const int*,       \
      const LegacyDescriptor*, const T*, const int*, const int*, std::size_t* bytes) {            \
    return call(handle, [&](Handle&) {                                                            \
      require(m >= 0 && n >= 0);                                                                  \
      given(bytes) = static_cast<std::size_t>(scan_sums(m)) * sizeof(int);                        \
    });                                                                                           \
  }                                                                                               \
  int raddle_cusparse##L##csrgeam2(                                                               \
      Handle* handle, int m, int n, const T* alpha, const LegacyDescriptor* a, int a_entries,     \
      const T* a_values, const int* a_offsets, const int* a_columns, const T* beta,               \
      const LegacyDescriptor* b, int b_entries, const T* b_values, const int* b_offsets,          \
      const int* b_columns, const LegacyDescriptor* c, T* c_values, int* c_offsets,               \
      int* c_columns, void*) {                                                                    \
    return call(handle, [&](Handle& h) {                                                          \
      const Geam g = checked(m, n, {a, a_entries, a_values, a_offsets, a_columns},                \
                             {b, b_entries, b_values, b_offsets, b_columns}, c, c_offsets);       \
      add(h, "sparse_" #l "csrgeam2", g, alpha, beta, c_values, c_columns, cuda_type);            \
    });                                                                                           \
  }

extern "C" {

int raddle_cusparseXcsrgeam2Nnz(Handle* handle, int m, int n, const LegacyDescriptor* a,
                                int a_entries, const int* a_offsets, const int* a_columns,
                                const LegacyDescriptor* b, int b_entries, const int* b_offsets,
                                const int* b_columns, const LegacyDescriptor* c, int* c_offsets,
                                int* total, void* workspace) {
  return call(handle, [&](Handle& h) {
    count(h,
          checked(m, n, {a, a_entries, nullptr, a_offsets, a_columns},
                  {b, b_entries, nullptr, b_offsets, b_columns}, c, c_offsets),
          total, workspace);
  });
}
GEAM(S, s, float, kF32)
GEAM(D, d, double, kF64)
GEAM(C, c, void, kC32)
GEAM(Z, z, void, kC64)

}  // extern "C"
