// Numbers that kernels look up: made in long double on the host, rounded once, kept in device
// memory as long as the plan.
#pragma once
#include <complex>
#include <map>
#include <string>
#include <vector>

#include "raddle/cufft/kernels/arguments.h"

namespace raddle::cufft {

using Exact = std::complex<long double>;

class Tables {
 public:
  /// Without memory all addresses are null: for plans that are only measured.
  Tables(bool in_double, bool in_memory) : in_double_(in_double), in_memory_(in_memory) {}
  ~Tables();
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  /// For the stages of a transform of n in that order; `radices` gives n.
  const void* twiddles(const std::vector<int>& radices);
  /// Of the powers of exp(-2 pi i / order).
  Roots roots(long long order);
  /// exp(-pi i j^2 / n), j < n.
  const void* chirp(int n);
  /// The transform, of length m (a power of two), of what a sequence of n times its chirp is
  /// convolved with; over m, for the inverse transform that follows.
  const void* chirp_spectrum(int n, int m);

 private:
  template <class Make>
  const void* table(const std::string& name, Make make);
  const void* upload(const std::vector<Exact>& numbers) const;

  bool in_double_, in_memory_;
  std::map<std::string, const void*> tables_;
};

/// Where the stages' numbers begin in that table, in complex numbers.
std::vector<int> twiddle_offsets(const std::vector<int>& radices);

}  // namespace raddle::cufft
