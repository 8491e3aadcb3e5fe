// What programs that test cuFFT share: checks, transforms on the host in long double, and cases: a
// plan that is executed and compared, element by element of its layout.
#pragma once
#include <cuda_runtime.h>
#include <cufft.h>
#include <cufftXt.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

inline int failures = 0;

inline void check(bool good, const std::string& what) {
  if (good) return;
  std::printf("WRONG %s\n", what.c_str());
  ++failures;
}
inline void status(cufftResult got, cufftResult want, const std::string& what) {
  check(got == want, what + ": " + std::to_string(got) + ", not " + std::to_string(want));
}
inline void good(cufftResult got, const std::string& what) { status(got, CUFFT_SUCCESS, what); }

struct Random {
  std::uint32_t state = 12345;
  double number() {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / double(1 << 23) - 1;
  }
};

using Exact = std::complex<long double>;
using Numbers = std::vector<Exact>;

/// Powers of exp(2 pi i / n).
inline const Numbers& roots_of(std::size_t n) {
  static std::map<std::size_t, Numbers> known;
  Numbers& roots = known[n];
  for (std::size_t k = roots.size(); k < n; ++k) {
    const long double angle = 2 * acosl(-1.0L) * k / n;
    roots.push_back({cosl(angle), sinl(angle)});
  }
  return roots;
}

inline Exact times(Exact a, Exact b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// By the smallest factor; the definition itself where n is prime. `roots` are of n * stride.
inline void transform(const Exact* in, std::size_t stride, std::size_t n, int sign,
                      const Numbers& roots, Exact* out) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  std::size_t factor = 2;
  while (n % factor != 0) ++factor;
  const std::size_t part = n / factor, all = roots.size();
  Numbers parts(n);
  for (std::size_t i = 0; i < factor; ++i)
    transform(in + i * stride, stride * factor, part, sign, roots, &parts[i * part]);
  for (std::size_t k = 0; k < n; ++k) {
    Exact sum = 0;
    for (std::size_t i = 0; i < factor; ++i) {
      const std::size_t turn = i * k % n * stride;
      sum += times(parts[i * part + k % part], roots[sign > 0 || turn == 0 ? turn : all - turn]);
    }
    out[k] = sum;
  }
}
inline Numbers transformed(const Numbers& in, int sign) {
  Numbers out(in.size());
  transform(in.data(), 1, in.size(), sign, roots_of(in.size()), out.data());
  return out;
}

/// Of `rank` dimensions, the last innermost, in place.
inline void transform_all(Numbers& a, const std::vector<long long>& n, int sign) {
  std::size_t apart = 1;
  for (std::size_t d = n.size(); d-- > 0;) {
    const std::size_t length = n[d];
    Numbers line(length);
    for (std::size_t first = 0; first < a.size(); ++first) {
      if (first / apart % length != 0) continue;
      for (std::size_t i = 0; i < length; ++i) line[i] = a[first + i * apart];
      line = transformed(line, sign);
      for (std::size_t i = 0; i < length; ++i) a[first + i * apart] = line[i];
    }
    apart *= length;
  }
}

/// In device memory, between guards that must stay as they are.
template <class T>
struct Guarded {
  static constexpr std::size_t kGuard = 64;
  std::size_t count;
  T* at = nullptr;
  explicit Guarded(std::size_t n) : count(n) {
    cudaMalloc(&at, (n + 2 * kGuard) * sizeof(T));
    cudaMemset(at, 0x5a, (n + 2 * kGuard) * sizeof(T));
  }
  ~Guarded() { cudaFree(at); }
  Guarded(const Guarded&) = delete;
  T* data() const { return at + kGuard; }
  void up(const std::vector<T>& from) {
    cudaMemcpy(data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> down(const std::string& what) const {
    std::vector<T> all(count + 2 * kGuard);
    check(cudaMemcpy(all.data(), at, all.size() * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess,
          what + ": device failed");
    for (std::size_t i = 0; i < kGuard * sizeof(T); ++i) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(all.data());
      if (bytes[i] == 0x5a && bytes[all.size() * sizeof(T) - 1 - i] == 0x5a) continue;
      check(false, what + ": wrote outside");
      break;
    }
    return {all.begin() + kGuard, all.end() - kGuard};
  }
};

/// How one end lies, in elements of its type.
struct Layout {
  std::vector<long long> embed;
  long long stride = 1, dist = 0;
  long long at(long long batch, const std::vector<long long>& index) const {
    long long flat = 0;
    for (std::size_t d = 0; d < index.size(); ++d) flat = (d == 0 ? 0 : flat * embed[d]) + index[d];
    return batch * dist + flat * stride;
  }
  /// Elements of which one may be the last.
  std::size_t size(long long batches) const {
    long long all = stride;
    for (const long long one : embed) all *= one;
    return std::max(all, dist) * batches;
  }
};

enum Ends { kComplexEnds, kToComplex, kToReal };

struct Case {
  std::vector<long long> n;
  Ends ends = kComplexEnds;
  int sign = CUFFT_FORWARD;
  long long batch = 1;
  bool in_place = false;
  bool has_layout = false;
  Layout in = {}, out = {};
  bool odd_address = false;  ///< real numbers from an address of one number, not two

  std::string name() const {
    const char* const kinds[] = {"complex", "forward", "inverse"};
    std::string text = kinds[ends];
    for (const long long one : n) text += " " + std::to_string(one);
    if (sign > 0) text += " back";
    if (batch > 1) text += " batch " + std::to_string(batch);
    if (in_place) text += " in place";
    if (has_layout) text += " layout";
    if (odd_address) text += " odd";
    return text;
  }
  long long half() const { return n.back() / 2 + 1; }
  /// Without a layout of its own.
  void set_default() {
    if (has_layout) return;
    Layout complex{n, 1, 0}, real{n, 1, 0};
    if (ends != kComplexEnds) complex.embed.back() = half();
    if (ends != kComplexEnds && in_place) real.embed.back() = 2 * half();
    for (Layout* one : {&complex, &real}) {
      one->dist = 1;
      for (const long long length : one->embed) one->dist *= length;
    }
    in = ends == kToComplex ? real : complex;
    out = ends == kToReal ? real : complex;
  }
};

/// Calls `each` with every index below `n`, the last of which has `inner`.
template <class Each>
void for_all(const std::vector<long long>& n, long long inner, Each each) {
  std::vector<long long> index(n.size(), 0);
  for (;;) {
    each(index);
    std::size_t d = n.size();
    while (d-- > 0) {
      if (++index[d] < (d + 1 == n.size() ? inner : n[d])) break;
      index[d] = 0;
      if (d == 0) return;
    }
  }
}

template <class T>
cufftResult make(cufftHandle plan, const Case& c, std::size_t* bytes) {
  constexpr bool kDouble = sizeof(T) == 8;
  const cufftType type = c.ends == kComplexEnds ? (kDouble ? CUFFT_Z2Z : CUFFT_C2C)
                         : c.ends == kToComplex ? (kDouble ? CUFFT_D2Z : CUFFT_R2C)
                                                : (kDouble ? CUFFT_Z2D : CUFFT_C2R);
  std::vector<long long> n = c.n, in = c.in.embed, out = c.out.embed;
  return cufftMakePlanMany64(plan, static_cast<int>(n.size()), n.data(),
                             c.has_layout ? in.data() : nullptr, c.in.stride, c.in.dist,
                             c.has_layout ? out.data() : nullptr, c.out.stride, c.out.dist, type,
                             c.batch, bytes);
}
template <class T>
cufftResult execute(cufftHandle plan, const Case& c, void* in, void* out) {
  if constexpr (sizeof(T) == 8) {
    if (c.ends == kToComplex)
      return cufftExecD2Z(plan, static_cast<double*>(in), static_cast<cufftDoubleComplex*>(out));
    if (c.ends == kToReal)
      return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(in), static_cast<double*>(out));
    return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(in),
                        static_cast<cufftDoubleComplex*>(out), c.sign);
  } else {
    if (c.ends == kToComplex)
      return cufftExecR2C(plan, static_cast<float*>(in), static_cast<cufftComplex*>(out));
    if (c.ends == kToReal)
      return cufftExecC2R(plan, static_cast<cufftComplex*>(in), static_cast<float*>(out));
    return cufftExecC2C(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                        c.sign);
  }
}

/// A batch's input, as what is transformed in whole: of a spectrum of real numbers only half is
/// given, so it is made from real numbers, rounded to T.
template <class T>
Numbers input_of(const Case& c, Random& random) {
  std::size_t all = 1;
  for (const long long one : c.n) all *= one;
  Numbers a(all);
  for (Exact& one : a)
    one = {static_cast<T>(random.number()),
           c.ends == kComplexEnds ? static_cast<T>(random.number()) : T(0)};
  if (c.ends != kToReal) return a;
  transform_all(a, c.n, CUFFT_FORWARD);
  for (Exact& one : a)
    one = Exact(static_cast<T>(one.real()), static_cast<T>(one.imag())) /
          static_cast<long double>(all);
  for (Exact& one : a) one = {static_cast<T>(one.real()), static_cast<T>(one.imag())};
  return a;
}

/// Relative errors of the norm that are allowed, for each factor 2 of the number of elements.
template <class T>
constexpr double kTolerance = sizeof(T) == 8 ? 1e-15 : 5e-7;

inline double worst_of_tolerance = 0;

template <class T>
void run(Case tried) {
  tried.set_default();
  const bool real_in = tried.ends == kToComplex, real_out = tried.ends == kToReal;
  const std::size_t odd = tried.odd_address ? 1 : 0;
  const std::size_t in_size = tried.in.size(tried.batch) * (real_in ? 1 : 2) + odd;
  const std::size_t out_size = tried.out.size(tried.batch) * (real_out ? 1 : 2) + odd;
  Guarded<T> in(std::max(in_size, tried.in_place ? out_size : 0)), other(out_size);
  std::vector<T> host(in.count, T(7));
  Random random;
  std::vector<Numbers> want;
  const auto flat = [&](const std::vector<long long>& index) {
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) at = at * tried.n[axis] + index[axis];
    return at;
  };
  for (long long number = 0; number < tried.batch; ++number) {
    Numbers input = input_of<T>(tried, random);
    for_all(tried.n, real_out ? tried.half() : tried.n.back(),
            [&](const std::vector<long long>& index) {
              const Exact value = input[flat(index)];
              const long long at = tried.in.at(number, index);
              host[at * (real_in ? 1 : 2) + (real_in ? odd : 0)] = static_cast<T>(value.real());
              if (!real_in) host[2 * at + 1] = static_cast<T>(value.imag());
            });
    transform_all(input, tried.n, real_out ? CUFFT_INVERSE : tried.sign);
    want.push_back(std::move(input));
  }
  in.up(host);
  Guarded<T>& to = tried.in_place ? in : other;
  cufftHandle plan;
  std::size_t bytes = 0;
  good(cufftCreate(&plan), tried.name() + ": create");
  good(make<T>(plan, tried, &bytes), tried.name() + ": make");
  T* const from = in.data() + (real_in ? odd : 0);
  good(execute<T>(plan, tried, from, tried.in_place ? from : to.data() + (real_out ? odd : 0)),
       tried.name() + ": execute");
  const std::vector<T> got = to.down(tried.name());
  if (!tried.in_place) check(in.down(tried.name()) == host, tried.name() + ": input changed");
  long double difference = 0, norm = 0;
  std::vector<bool> written(got.size(), false);
  for (long long number = 0; number < tried.batch; ++number)
    for_all(tried.n, tried.ends == kToComplex ? tried.half() : tried.n.back(),
            [&](const std::vector<long long>& index) {
              const std::size_t at =
                  tried.out.at(number, index) * (real_out ? 1 : 2) + (real_out ? odd : 0);
              const Exact value(got[at], real_out ? T(0) : got[at + 1]);
              const Exact right = want[number][flat(index)];
              difference += std::norm(value - (real_out ? Exact(right.real()) : right));
              norm += std::norm(right);
              written[at] = true;
              if (!real_out) written[at + 1] = true;
            });
  std::size_t all = 1;
  for (const long long one : tried.n) all *= one;
  const double error = static_cast<double>(sqrtl(difference / norm));
  const double allowed = kTolerance<T> * std::max(1.0, std::log2(static_cast<double>(all)));
  worst_of_tolerance = std::max(worst_of_tolerance, error / allowed);
  char text[64];
  std::snprintf(text, sizeof text, ": error %.2e, allowed %.2e", error, allowed);
  check(error < allowed, (sizeof(T) == 8 ? "double " : "float ") + tried.name() + text);
  T untouched;
  std::memset(&untouched, 0x5a, sizeof untouched);
  for (std::size_t i = 0; !tried.in_place && i < got.size(); ++i)
    if (!written[i] && std::memcmp(&got[i], &untouched, sizeof(T)) != 0) {
      check(false, tried.name() + ": wrote between the elements");
      break;
    }
  good(cufftDestroy(plan), tried.name() + ": destroy");
}

/// A plan that stays: as long as there is one, kernels are loaded once.
struct Keeper {
  cufftHandle plan;
  Keeper() { good(cufftCreate(&plan), "create"); }
  ~Keeper() { good(cufftDestroy(plan), "destroy"); }
};

inline int finish() {
  std::printf("largest error: %.2f of what is allowed\n", worst_of_tolerance);
  std::printf(failures == 0 ? "PASS\n" : "FAIL\n");
  return failures == 0 ? 0 : 1;
}
