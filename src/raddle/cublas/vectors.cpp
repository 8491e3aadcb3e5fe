// Level 1: vectors with vectors.
#include <algorithm>
#include <string>
#include <type_traits>

#include "raddle/cublas/handle.h"
#include "raddle/cublas/vector_kernels.h"

using namespace raddle::cublas;

namespace {

constexpr unsigned kThreads = 256;

/// A thread for each element, where the grid may be that large; else they take several.
unsigned blocks_for(std::int64_t n) {
  constexpr std::int64_t kMaxBlocks = 65535;
  return static_cast<unsigned>(std::min((n - 1) / kThreads + 1, kMaxBlocks));
}

template <class T, class... More>
void each(Handle& h, const char* word, std::int64_t n, More... more) {
  long long count = n;
  void* arguments[] = {&count, &more...};
  h.device.launch(kVectorModule, vector_kernel<T>(word), {blocks_for(n), 1, 1}, kThreads, arguments,
                  h.stream);
}

template <class T>
Vector vector(const T* at, std::int64_t n, std::int64_t step) {
  return vector_of(at, n, step, sizeof(T));
}

/// Sums of blocks, then of those; the result lies where the pointer mode says.
template <class T, class Result>
int reduce(Handle* from, const char* word, std::int64_t n, const T* x, std::int64_t step_x,
           const T* y, std::int64_t step_y, Result* result) {
  return call(from, [&](Handle& handle) {
    require(result != nullptr);
    const bool on_host = handle.pointer_mode == kHostPointers;
    // Of nothing it is 0; so it is of one vector that does not go forwards.
    if (n <= 0 || (y == nullptr && step_x <= 0)) {
      if (on_host) *result = 0;
      else clear(result, sizeof *result, handle.stream);
      return;
    }
    constexpr std::int64_t kOfThread = 4;
    long long count = n;
    int blocks = static_cast<int>(
        std::min<std::int64_t>((n - 1) / (kReductionThreads * kOfThread) + 1, kReductionBlocks));
    void* partial = handle.device.room(handle.stream);
    void* to = result;
    if (on_host) to = static_cast<char*>(partial) + kReductionBlocks * kPartialBytes;
    static_assert(kReductionBlocks * kPartialBytes + sizeof(double) <= Device::kRoomBytes);
    Vector left = vector(x, n, step_x), right = vector(y, n, step_y);
    void* of_grid[] = {&count, &left, &right, &partial};
    handle.device.launch(kVectorModule, vector_kernel<T>(word),
                         {static_cast<unsigned>(blocks), 1, 1}, kReductionThreads, of_grid,
                         handle.stream);
    void* of_end[] = {&blocks, &partial, &to};
    const bool wide = std::is_same_v<Result, std::int64_t>;
    handle.device.launch(kVectorModule, vector_kernel<T>(word) + (wide ? "_end_64" : "_end"), {},
                         kReductionThreads, of_end, handle.stream);
    if (!on_host) return;
    copy(result, to, sizeof *result, handle.stream);
    wait(handle.stream);
  });
}

template <class T>
int axpy(Handle* handle, std::int64_t n, const T* alpha, const T* x, std::int64_t step_x, T* y,
         std::int64_t step_y) {
  return call(handle, [&](Handle& h) {
    const Scale scale = scale_of(h, alpha);
    if (n <= 0 || (scale.at == nullptr && scale.value == 0)) return;
    each<T>(h, "axpy", n, scale, vector(x, n, step_x), vector(y, n, step_y));
  });
}
template <class T>
int scal(Handle* handle, std::int64_t n, const T* alpha, T* x, std::int64_t step) {
  return call(handle, [&](Handle& h) {
    const Scale scale = scale_of(h, alpha);
    if (n > 0 && step > 0) each<T>(h, "scal", n, scale, vector(x, n, step));
  });
}
template <class T>
int two(const char* word, Handle* handle, std::int64_t n, const T* x, std::int64_t step_x, T* y,
        std::int64_t step_y) {
  return call(handle, [&](Handle& h) {
    if (n > 0) each<T>(h, word, n, vector(x, n, step_x), vector(y, n, step_y));
  });
}
template <class T>
int rot(Handle* handle, std::int64_t n, T* x, std::int64_t step_x, T* y, std::int64_t step_y,
        const T* c, const T* s) {
  return call(handle, [&](Handle& h) {
    const Scale cosine = scale_of(h, c), sine = scale_of(h, s);
    if (n > 0) each<T>(h, "rot", n, vector(x, n, step_x), vector(y, n, step_y), cosine, sine);
  });
}

}  // namespace

#define VECTORS(L, l, T, Int, suffix)                                                             \
  int raddle_cublas##L##axpy_v2##suffix(Handle* h, Int n, const T* alpha, const T* x, Int incx,   \
                                        T* y, Int incy) {                                         \
    return axpy<T>(h, n, alpha, x, incx, y, incy);                                                \
  }                                                                                               \
  int raddle_cublas##L##scal_v2##suffix(Handle* h, Int n, const T* alpha, T* x, Int incx) {       \
    return scal<T>(h, n, alpha, x, incx);                                                         \
  }                                                                                               \
  int raddle_cublas##L##copy_v2##suffix(Handle* h, Int n, const T* x, Int incx, T* y, Int incy) { \
    return two<T>("copy", h, n, x, incx, y, incy);                                                \
  }                                                                                               \
  int raddle_cublas##L##swap_v2##suffix(Handle* h, Int n, T* x, Int incx, T* y, Int incy) {       \
    return two<T>("swap", h, n, x, incx, y, incy);                                                \
  }                                                                                               \
  int raddle_cublas##L##rot_v2##suffix(Handle* h, Int n, T* x, Int incx, T* y, Int incy,          \
                                       const T* c, const T* s) {                                  \
    return rot<T>(h, n, x, incx, y, incy, c, s);                                                  \
  }                                                                                               \
  int raddle_cublas##L##dot_v2##suffix(Handle* h, Int n, const T* x, Int incx, const T* y,        \
                                       Int incy, T* result) {                                     \
    return reduce<T>(h, "dot", n, x, incx, y, incy, result);                                      \
  }                                                                                               \
  int raddle_cublas##L##asum_v2##suffix(Handle* h, Int n, const T* x, Int incx, T* result) {      \
    return reduce<T>(h, "asum", n, x, incx, nullptr, 0, result);                                  \
  }                                                                                               \
  int raddle_cublas##L##nrm2_v2##suffix(Handle* h, Int n, const T* x, Int incx, T* result) {      \
    return reduce<T>(h, "nrm2", n, x, incx, nullptr, 0, result);                                  \
  }                                                                                               \
  int raddle_cublasI##l##amax_v2##suffix(Handle* h, Int n, const T* x, Int incx, Int* result) {   \
    return reduce<T>(h, "amax", n, x, incx, nullptr, 0, result);                                  \
  }                                                                                               \
  int raddle_cublasI##l##amin_v2##suffix(Handle* h, Int n, const T* x, Int incx, Int* result) {   \
    return reduce<T>(h, "amin", n, x, incx, nullptr, 0, result);                                  \
  }

extern "C" {
VECTORS(S, s, float, int, )
VECTORS(S, s, float, std::int64_t, _64)
VECTORS(D, d, double, int, )
VECTORS(D, d, double, std::int64_t, _64)
}
