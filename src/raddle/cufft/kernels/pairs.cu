// Between the spectra of real numbers and those of their pairs, for lines of several passes.
#include "raddle/cufft/kernels/lines.h"

namespace raddle::cufft {

/// A thread has elements k and h - k of a line. A block has one line, or kPairLines of them.
template <class T, bool kJoins>
static __device__ __forceinline__ void pairs(const Pass& p) {
  using C = Complex<T>;
  const int thread = static_cast<int>(threadIdx.x), each = kPairThreads / p.block_lines;
  const int count = p.n / 2 + 1;
  const unsigned chunks = static_cast<unsigned>((count - 1) / each + 1);
  const unsigned tile = block_number() / chunks;
  const int chunk = static_cast<int>(block_number() - tile * chunks);
  const int k = chunk * each + thread / p.block_lines, mirror = p.n - k;
  const Line line = line_of(p, tile * static_cast<unsigned>(p.block_lines) +
                                   static_cast<unsigned>(thread % p.block_lines));
  if (!line.exists || k >= count) return;
  const C* const in = static_cast<const C*>(p.in) + line.in;
  C* const out = static_cast<C*>(p.out) + line.out;
  C low = in[k * p.in_step], high = in[(!kJoins && k == 0 ? 0 : mirror) * p.in_step];
  if constexpr (kJoins) join_pair(p.roots, k, low, high);
  else split_pair(p.roots, k, low, high);
  if (!kJoins || (k > 0 && k != mirror)) out[mirror * p.out_step] = high;
  out[k * p.out_step] = low;
}

}  // namespace raddle::cufft

using namespace raddle::cufft;

#define PAIRS(name, T, joins)                                                     \
  extern "C" __global__ void __launch_bounds__(kPairThreads) name(const Pass p) { \
    pairs<T, joins>(p);                                                           \
  }
PAIRS(fft_s_split_pairs, float, false)
PAIRS(fft_s_join_pairs, float, true)
PAIRS(fft_d_split_pairs, double, false)
PAIRS(fft_d_join_pairs, double, true)
