// Descriptors of cublasLt: made, dropped, and their attributes by number.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "raddle/cublas/lt.h"

using namespace raddle::cublas;

namespace {

/// Where an attribute lies; null when there is none of that number.
struct Attribute {
  void* at = nullptr;
  std::size_t bytes = 0;
};
template <class T>
Attribute attribute(T& member) {
  return {&member, sizeof member};
}

Attribute find(Layout& layout, int number) {
  switch (number) {
    case 0:
      return attribute(layout.type);
    case 1:
      return attribute(layout.order);
    case 2:
      return attribute(layout.rows);
    case 3:
      return attribute(layout.columns);
    case 4:
      return attribute(layout.ld);
    case 5:
      return attribute(layout.batch);
    case 6:
      return attribute(layout.stride);
    default:
      return {};
  }
}
Attribute find(MatmulDescription& how, int number) {
  switch (number) {
    case 0:
      return attribute(how.compute);
    case 1:
      return attribute(how.scale_type);
    case 2:
      return attribute(how.pointer_mode);
    case 3:
      return attribute(how.op_a);
    case 4:
      return attribute(how.op_b);
    case 5:
      return attribute(how.op_c);
    case 6:
      return attribute(how.fill);
    case 7:
      return attribute(how.epilogue);
    case 8:
      return attribute(how.bias);
    case 10:
      return attribute(how.bias_stride);
    case 15:
      return attribute(how.multiprocessors);
    case 25:
      return attribute(how.fast_accumulation);
    case 26:
      return attribute(how.bias_type);
    default:
      return {};
  }
}
Attribute find(Preference& wanted, int number) {
  switch (number) {
    case 0:
      return attribute(wanted.search_mode);
    case 1:
      return attribute(wanted.workspace_bytes);
    case 3:
      return attribute(wanted.reduction_schemes);
    case 5:
      return attribute(wanted.alignments[0]);
    case 6:
      return attribute(wanted.alignments[1]);
    case 7:
      return attribute(wanted.alignments[2]);
    case 8:
      return attribute(wanted.alignments[3]);
    case 9:
      return attribute(wanted.waves);
    case 12:
      return attribute(wanted.implementations);
    default:
      return {};
  }
}

/// What the user is told of an attribute that we do not have: cublasLtMatmulDescAttributes_t.
std::string called(const MatmulDescription&, int number) {
  constexpr std::pair<int, const char*> kNames[] = {{11, "EPILOGUE_AUX_POINTER"},
                                                    {12, "EPILOGUE_AUX_LD"},
                                                    {13, "EPILOGUE_AUX_BATCH_STRIDE"},
                                                    {14, "ALPHA_VECTOR_BATCH_STRIDE"},
                                                    {17, "A_SCALE_POINTER"},
                                                    {18, "B_SCALE_POINTER"},
                                                    {19, "C_SCALE_POINTER"},
                                                    {20, "D_SCALE_POINTER"},
                                                    {21, "AMAX_D_POINTER"},
                                                    {22, "EPILOGUE_AUX_DATA_TYPE"},
                                                    {23, "EPILOGUE_AUX_SCALE_POINTER"},
                                                    {24, "EPILOGUE_AUX_AMAX_POINTER"},
                                                    {31, "A_SCALE_MODE"},
                                                    {32, "B_SCALE_MODE"},
                                                    {33, "C_SCALE_MODE"},
                                                    {34, "D_SCALE_MODE"}};
  for (const auto& [known, name] : kNames)
    if (known == number) return std::string("CUBLASLT_MATMUL_DESC_") + name;
  return std::to_string(number);
}
template <class T>
std::string called(const T&, int number) {
  return std::to_string(number);
}

template <class T>
int create(T** to, const T& value) {
  if (to == nullptr) return kInvalidValue;
  *to = std::make_unique<T>(value).release();
  return kSuccess;
}
template <class T>
int begin(T* at, std::size_t bytes, const T& value) {
  if (at == nullptr || bytes < sizeof(T)) return kInvalidValue;
  *at = value;
  return kSuccess;
}
template <class T>
int drop(T* one) {
  if (one == nullptr) return kInvalidValue;
  delete one;
  return kSuccess;
}

template <class T>
int set(const char* what, T* descriptor, int number, const void* from, std::size_t bytes) {
  if (descriptor == nullptr || from == nullptr) return kInvalidValue;
  const Attribute found = find(*descriptor, number);
  if (found.at == nullptr) return lacks(std::string(what) + " of " + called(*descriptor, number));
  if (bytes != found.bytes) return kInvalidValue;
  std::memcpy(found.at, from, bytes);
  return kSuccess;
}
/// Without a buffer it says how large one must be.
template <class T>
int get(T* descriptor, int number, void* to, std::size_t bytes, std::size_t* written) {
  if (descriptor == nullptr) return kInvalidValue;
  const Attribute found = find(*descriptor, number);
  if (found.at == nullptr || (bytes == 0 && written == nullptr)) return kInvalidValue;
  if (written != nullptr) *written = found.bytes;
  if (bytes == 0) return kSuccess;
  if (to == nullptr || bytes != found.bytes) return kInvalidValue;
  std::memcpy(to, found.at, bytes);
  return kSuccess;
}

Layout layout_of(int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  return {.type = type, .rows = rows, .columns = columns, .ld = ld};
}

}  // namespace

#define ATTRIBUTES(Name, Type)                                                                \
  int raddle_cublasLt##Name##Destroy(Type* one) { return drop(one); }                         \
  int raddle_cublasLt##Name##SetAttribute(Type* one, int number, const void* from,            \
                                          std::size_t bytes) {                                \
    return set("cublasLt" #Name "SetAttribute", one, number, from, bytes);                    \
  }                                                                                           \
  int raddle_cublasLt##Name##GetAttribute(Type* one, int number, void* to, std::size_t bytes, \
                                          std::size_t* written) {                             \
    return get(one, number, to, bytes, written);                                              \
  }

extern "C" {

int raddle_cublasLtMatrixLayoutCreate(Layout** to, int type, std::uint64_t rows,
                                      std::uint64_t columns, std::int64_t ld) {
  return create(to, layout_of(type, rows, columns, ld));
}
int raddle_cublasLtMatrixLayoutInit_internal(Layout* at, std::size_t bytes, int type,
                                             std::uint64_t rows, std::uint64_t columns,
                                             std::int64_t ld) {
  return begin(at, bytes, layout_of(type, rows, columns, ld));
}
ATTRIBUTES(MatrixLayout, Layout)

int raddle_cublasLtMatmulDescCreate(MatmulDescription** to, int compute, int scale_type) {
  return create(to, MatmulDescription{.compute = compute, .scale_type = scale_type});
}
int raddle_cublasLtMatmulDescInit_internal(MatmulDescription* at, std::size_t bytes, int compute,
                                           int scale_type) {
  return begin(at, bytes, MatmulDescription{.compute = compute, .scale_type = scale_type});
}
ATTRIBUTES(MatmulDesc, MatmulDescription)

int raddle_cublasLtMatmulPreferenceCreate(Preference** to) { return create(to, Preference{}); }
int raddle_cublasLtMatmulPreferenceInit_internal(Preference* at, std::size_t bytes) {
  return begin(at, bytes, Preference{});
}
ATTRIBUTES(MatmulPreference, Preference)

}  // extern "C"
