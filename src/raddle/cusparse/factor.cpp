// Incomplete factorisations of the older interface: csrilu02 and csric02.
#include "raddle/cusparse/triangular.h"

using namespace raddle::cusparse;

namespace {

constexpr int kNoPivot = 0x7ffffff0;  ///< and above: no row is

/// csrilu02Info_t and csric02Info_t.
struct FactorInfo {
  SolveDescriptor order;
  int* pivots = nullptr;  ///< in device memory
  double boost_tolerance = -1, boost_real = 0, boost_imaginary = 0;
  FactorInfo() = default;
  FactorInfo(const FactorInfo&) = delete;
  FactorInfo& operator=(const FactorInfo&) = delete;
  ~FactorInfo() {
    if (pivots != nullptr) raddle::cuda_library::release(pivots);
  }
};

/// Of the structure alone: no values.
SparseMatrixDescriptor structure_of(int m, int entries, const LegacyDescriptor* descriptor,
                                    const int* offsets, const int* columns) {
  constexpr int kNoType = -1;
  require(m >= 0 && entries >= 0);
  require(given(descriptor).type == 0, kMatrixTypeNotSupported);
  return {.format = kCsr,
          .rows = m,
          .columns = m,
          .entries = entries,
          .first = const_cast<int*>(offsets),
          .second = const_cast<int*>(columns),
          .values = nullptr,
          .first_type = kIndex32,
          .second_type = kIndex32,
          .base = descriptor->base,
          .type = kNoType};
}

int create(FactorInfo** to) {
  return guarded([&] {
    require(to != nullptr);
    *to = new FactorInfo;
  });
}
int destroy(FactorInfo* info) {
  delete info;
  return kSuccess;
}

int size(Handle* handle, int m, int entries, const LegacyDescriptor* descriptor,
         const FactorInfo* info, int* bytes) {
  return call(handle, [&](Handle&) {
    const auto a = structure_of(m, entries, descriptor, nullptr, nullptr);
    require(info != nullptr);
    given(bytes) = static_cast<int>(triangle_memory(a, nullptr).bytes);
  });
}

int analysis(Handle* handle, int m, int entries, const LegacyDescriptor* descriptor,
             const int* offsets, const int* columns, FactorInfo* info, void* buffer) {
  return call(handle, [&](Handle& h) {
    const auto a = structure_of(m, entries, descriptor, offsets, columns);
    require(m == 0 || (offsets != nullptr && buffer != nullptr));
    require(entries == 0 || columns != nullptr);
    order_rows(h, given(info).order, kPlain, a, buffer);
    if (info->pivots == nullptr)
      info->pivots = static_cast<int*>(raddle::cuda_library::allocate(kPivotKinds * sizeof(int)));
    identity(h, info->pivots, kPivotKinds, kNoPivot);
  });
}

int factor(Handle* handle, const std::string& kernel, int m, int entries,
           const LegacyDescriptor* descriptor, void* values, const int* offsets, const int* columns,
           FactorInfo* info) {
  return call(handle, [&](Handle& h) {
    const auto a = structure_of(m, entries, descriptor, offsets, columns);
    require(given(info).order.analysed && info->order.triangle.rows == m);
    require(entries == 0 || values != nullptr);
    identity(h, info->pivots, kPivotKinds, kNoPivot);
    Factor f{.offsets = offsets,
             .columns = columns,
             .values = values,
             .order = info->order.triangle.order,
             .levels = info->order.triangle.levels,
             .pivots = info->pivots,
             .boost_tolerance = info->boost_tolerance,
             .boost_real = info->boost_real,
             .boost_imaginary = info->boost_imaginary,
             .base = a.base,
             .first_level = 0,
             .last_level = 0};
    for (const LevelRun& one : info->order.runs) {
      f.first_level = one.first;
      f.last_level = one.last;
      const bool single = one.last - one.first == 1;
      launch(h, "factor", kernel, {single ? blocks_for(one.rows, kSolveWarps) : 1},
             kSolveWarps * 32, f);
    }
  });
}

/// Waits for the stream. The position counts from the matrix' base; -1: every row has a pivot.
int zero_pivot(Handle* handle, const FactorInfo* info, int* position) {
  return call(handle, [&](Handle& h) {
    require(info != nullptr && position != nullptr);
    int found[kPivotKinds] = {kNoPivot, kNoPivot};
    if (info->pivots != nullptr) {
      copy(found, info->pivots, sizeof found, h.stream);
      wait(h.stream);
    }
    int first = found[kStructural] < found[kNumerical] ? found[kStructural] : found[kNumerical];
    if (first >= kNoPivot) first = -1;
    copy(position, &first, sizeof first, h.stream);
    wait(h.stream);
    require(first < 0, kZeroPivot);
  });
}

/// Both may be the host's or the device's; they are read here.
int boost(Handle* handle, FactorInfo* info, int enable, const double* tolerance, const void* value,
          int type) {
  return call(handle, [&](Handle& h) {
    require(info != nullptr);
    info->boost_tolerance = -1;
    if (enable == 0) return;
    require(tolerance != nullptr && value != nullptr);
    double limit = 0;
    alignas(16) char bytes[16] = {};
    copy(&limit, tolerance, sizeof limit, h.stream);
    copy(bytes, value, bytes_of(type), h.stream);
    wait(h.stream);
    const bool wide = type == kF64 || type == kC64;
    const auto* const doubles = reinterpret_cast<const double*>(bytes);
    const auto* const singles = reinterpret_cast<const float*>(bytes);
    info->boost_tolerance = limit;
    info->boost_real = wide ? doubles[0] : singles[0];
    info->boost_imaginary = !is_complex(type) ? 0 : wide ? doubles[1] : singles[1];
  });
}

}  // namespace

#define FACTOR(L, l, T, word)                                                                     \
  int raddle_cusparse##L##word##_bufferSize(Handle* h, int m, int entries,                        \
                                            const LegacyDescriptor* descriptor, T*, const int*,   \
                                            const int*, const FactorInfo* info, int* bytes) {     \
    return size(h, m, entries, descriptor, info, bytes);                                          \
  }                                                                                               \
  int raddle_cusparse##L##word##_analysis(                                                        \
      Handle* h, int m, int entries, const LegacyDescriptor* descriptor, const T*,                \
      const int* offsets, const int* columns, FactorInfo* info, int, void* buffer) {              \
    return analysis(h, m, entries, descriptor, offsets, columns, info, buffer);                   \
  }                                                                                               \
  int raddle_cusparse##L##word(Handle* h, int m, int entries, const LegacyDescriptor* descriptor, \
                               T* values, const int* offsets, const int* columns,                 \
                               FactorInfo* info, int, void*) {                                    \
    return factor(h, "sparse_" #l #word, m, entries, descriptor, values, offsets, columns, info); \
  }
#define FACTORS(L, l, T, type)                                                           \
  FACTOR(L, l, T, csrilu02)                                                              \
  FACTOR(L, l, T, csric02)                                                               \
  int raddle_cusparse##L##csrilu02_numericBoost(Handle* h, FactorInfo* info, int enable, \
                                                double* tolerance, T* value) {           \
    return boost(h, info, enable, tolerance, value, type);                               \
  }

extern "C" {

int raddle_cusparseCreateCsrilu02Info(FactorInfo** to) { return create(to); }
int raddle_cusparseDestroyCsrilu02Info(FactorInfo* info) { return destroy(info); }
int raddle_cusparseXcsrilu02_zeroPivot(Handle* h, const FactorInfo* info, int* position) {
  return zero_pivot(h, info, position);
}
int raddle_cusparseCreateCsric02Info(FactorInfo** to) { return create(to); }
int raddle_cusparseDestroyCsric02Info(FactorInfo* info) { return destroy(info); }
int raddle_cusparseXcsric02_zeroPivot(Handle* h, const FactorInfo* info, int* position) {
  return zero_pivot(h, info, position);
}
FACTORS(S, s, float, kF32)
FACTORS(D, d, double, kF64)
FACTORS(C, c, void, kC32)
FACTORS(Z, z, void, kC64)

}  // extern "C"
