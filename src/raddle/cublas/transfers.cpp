// Vectors and matrices between host and device.
#include <algorithm>

#include "raddle/cublas/handle.h"

using namespace raddle::cublas;

namespace {

/// One line for each column; columns and steps are counted in elements of `bytes`.
template <class... Where>
int move(std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* from,
         std::int64_t from_ld, void* to, std::int64_t to_ld, Where... stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || from_ld <= 0 || to_ld <= 0) return kInvalidValue;
  if (from_ld < rows || to_ld < rows) return kInvalidValue;
  if (rows == 0 || columns == 0) return kSuccess;
  const auto of = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * bytes); };
  return copy_lines(to, of(to_ld), from, of(from_ld), of(rows), static_cast<std::size_t>(columns),
                    stream...)
             ? kSuccess
             : kMappingError;
}

/// Of one element a line; those that lie side by side are one line.
template <class... Where>
int move_vector(std::int64_t n, std::int64_t bytes, const void* from, std::int64_t from_step,
                void* to, std::int64_t to_step, Where... stream) {
  if (from_step == 1 && to_step == 1)
    return move(n, 1, bytes, from, std::max<std::int64_t>(n, 1), to, std::max<std::int64_t>(n, 1),
                stream...);
  return move(n == 0 ? 0 : 1, n, bytes, from, from_step, to, to_step, stream...);
}

}  // namespace

#define TRANSFERS(Int, suffix)                                                                    \
  int raddle_cublasSetVector##suffix(Int n, Int bytes, const void* from, Int from_step, void* to, \
                                     Int to_step) {                                               \
    return move_vector(n, bytes, from, from_step, to, to_step);                                   \
  }                                                                                               \
  int raddle_cublasSetVectorAsync##suffix(Int n, Int bytes, const void* from, Int from_step,      \
                                          void* to, Int to_step, Stream stream) {                 \
    return move_vector(n, bytes, from, from_step, to, to_step, stream);                           \
  }                                                                                               \
  int raddle_cublasSetMatrix##suffix(Int rows, Int columns, Int bytes, const void* from,          \
                                     Int from_ld, void* to, Int to_ld) {                          \
    return move(rows, columns, bytes, from, from_ld, to, to_ld);                                  \
  }                                                                                               \
  int raddle_cublasSetMatrixAsync##suffix(Int rows, Int columns, Int bytes, const void* from,     \
                                          Int from_ld, void* to, Int to_ld, Stream stream) {      \
    return move(rows, columns, bytes, from, from_ld, to, to_ld, stream);                          \
  }

extern "C" {
TRANSFERS(int, )
TRANSFERS(std::int64_t, _64)
}
