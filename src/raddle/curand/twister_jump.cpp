#include "raddle/curand/twister_jump.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "raddle/curand/kernels/twisters.h"

namespace raddle::curand {

namespace {

constexpr int kDegree = 19937, kApart = 397;
constexpr int kJumpLog = 2048;  // cuRAND's reference says 1000; its numbers are 2^2048 apart
constexpr std::size_t kWordsOfTwo = 2 * kDegree / 64 + 2;

/// Coefficients of a polynomial over the field of two elements, with space for a square.
using Polynomial = std::vector<std::uint64_t>;

bool has(const Polynomial& p, int i) {
  const auto at = static_cast<std::size_t>(i);
  return (p[at / 64] >> at % 64 & 1) != 0;
}
void add(Polynomial& p, int i) {
  const auto at = static_cast<std::size_t>(i);
  p[at / 64] ^= std::uint64_t{1} << at % 64;
}

/// Exponents of (t^a + t^b)^n: odd binomial coefficients are those of bits that n has.
std::vector<int> binomial(int a, int b, int n) {
  std::vector<int> out;
  for (int i = 0; i <= n; ++i)
    if ((i & (n - i)) == 0) out.push_back(a * i + b * (n - i));
  return out;
}

/// Exponents of the characteristic polynomial: Matsumoto and Nishimura's formula (appendix A of
/// their paper), for words of 32 bits of which the recursion joins 1 and 31.
std::vector<int> characteristic() {
  constexpr unsigned kMatrix = 0x9908b0df;
  Polynomial sum(kWordsOfTwo);
  const auto add_product = [&](int power) {
    for (const int left : binomial(kTwisterWords, kApart, 1))
      for (const int right : binomial(kTwisterWords - 1, kApart - 1, power)) add(sum, left + right);
  };
  add_product(31);
  for (int i = 0; i < 31; ++i)
    if ((kMatrix >> i & 1) != 0) add_product(30 - i);
  if (kMatrix >> 31 != 0) add(sum, 0);
  std::vector<int> out;
  for (int i = 0; i <= kDegree; ++i)
    if (has(sum, i)) out.push_back(i);
  return out;
}

/// 64 bits from bit `from` on.
std::uint64_t bits_from(const Polynomial& p, int from) {
  const auto at = static_cast<std::size_t>(from);
  const std::uint64_t low = p[at / 64] >> at % 64;
  return at % 64 == 0 ? low : low | p[at / 64 + 1] << (64 - at % 64);
}
/// A zero behind each bit.
std::uint64_t spread(std::uint32_t bits) {
  std::uint64_t out = bits;
  out = (out | out << 16) & 0x0000ffff0000ffffULL;
  out = (out | out << 8) & 0x00ff00ff00ff00ffULL;
  out = (out | out << 4) & 0x0f0f0f0f0f0f0f0fULL;
  out = (out | out << 2) & 0x3333333333333333ULL;
  return (out | out << 1) & 0x5555555555555555ULL;
}
/// Over this field a square has the coefficients at twice their exponents.
Polynomial square(const Polynomial& p) {
  Polynomial out(kWordsOfTwo);
  for (std::size_t i = 0; 2 * i + 1 < out.size(); ++i) {
    out[2 * i] = spread(static_cast<std::uint32_t>(p[i]));
    out[2 * i + 1] = spread(static_cast<std::uint32_t>(p[i] >> 32));
  }
  return out;
}
/// Whole words at a time: the polynomial's second exponent is more than 64 below its first.
void reduce(Polynomial& p, const std::vector<int>& modulus) {
  for (int from = 2 * kDegree; from >= kDegree; from -= 64) {
    const int lowest = std::max(from - 63, kDegree);
    const std::uint64_t bits = bits_from(p, lowest) & ~std::uint64_t{0} >> (63 - (from - lowest));
    for (const int exponent : modulus) {
      const auto at = static_cast<std::size_t>(lowest - kDegree + exponent);
      p[at / 64] ^= bits << at % 64;
      if (at % 64 != 0) p[at / 64 + 1] ^= bits >> (64 - at % 64);
    }
  }
}

const Polynomial& jump() {
  static const Polynomial jumped = [] {
    const std::vector<int> modulus = characteristic();
    Polynomial out(kWordsOfTwo);
    add(out, 1);
    for (int i = 0; i < kJumpLog; ++i) {
      out = square(out);
      reduce(out, modulus);
    }
    return out;
  }();
  return jumped;
}

constexpr int kWindow = 4;  // coefficients that one sum of words stands for
constexpr std::size_t kWindows = (kDegree + kWindow - 1) / kWindow;
constexpr std::size_t kSequence = (kWindows * kWindow + kTwisterWords + 7) / 8 * 8;

using Vector = unsigned __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 8, kVectors = 6;  // that registers hold: 624 is a multiple

/// to[i] = left[i] + right[i], of `count` words: a multiple of kLanes.
__attribute__((target_clones("avx2", "default"))) void add_words(unsigned* to, const unsigned* left,
                                                                 const unsigned* right,
                                                                 std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    Vector a, b;
    std::memcpy(&a, left + i, sizeof a);
    std::memcpy(&b, right + i, sizeof b);
    a ^= b;
    std::memcpy(to + i, &a, sizeof a);
  }
}
/// The sum of all rows of 624 words.
__attribute__((target_clones("avx2", "default"))) void add_rows(
    unsigned* to, const std::vector<const unsigned*>& rows) {
  for (std::size_t from = 0; from < kTwisterWords; from += kLanes * kVectors) {
    Vector sum[kVectors] = {};
    for (const unsigned* words : rows)
      for (std::size_t v = 0; v < kVectors; ++v) {
        Vector more;
        std::memcpy(&more, words + from + v * kLanes, sizeof more);
        sum[v] ^= more;
      }
    std::memcpy(to + from, sum, sizeof sum);
  }
}

}  // namespace

std::vector<unsigned> twister_state(unsigned seed) {
  std::vector<unsigned> out(kTwisterWords);
  out[0] = seed;
  for (unsigned i = 1; i < out.size(); ++i)
    out[i] = 1812433253u * (out[i - 1] ^ (out[i - 1] >> 30)) + i;
  return out;
}

std::vector<unsigned> twister_jumped(const std::vector<unsigned>& state) {
  const Polynomial& polynomial = jump();
  // Sums of words of the sequence, of each choice of kWindow neighbours.
  std::vector<std::vector<unsigned>> sums(1u << kWindow);
  std::vector<unsigned> sequence = state;
  sequence.resize(kSequence + kWindow);
  for (std::size_t i = kTwisterWords; i < sequence.size(); ++i)
    sequence[i] = twisted(sequence[i - kTwisterWords], sequence[i - kTwisterWords + 1],
                          sequence[i - kTwisterWords + kApart]);
  sums[0].assign(kSequence, 0);
  for (unsigned choice = 1; choice < sums.size(); ++choice) {
    sums[choice].resize(kSequence);
    add_words(sums[choice].data(), sums[choice & (choice - 1)].data(),
              sequence.data() + __builtin_ctz(choice), kSequence);
  }
  std::vector<const unsigned*> chosen;
  for (std::size_t window = 0; window < kWindows; ++window) {
    const std::size_t at = window * kWindow;  // 64 is a multiple of kWindow
    const auto choice = polynomial[at / 64] >> at % 64 & ((1u << kWindow) - 1);
    if (choice != 0) chosen.push_back(sums[choice].data() + at);
  }
  std::vector<unsigned> out(kTwisterWords);
  add_rows(out.data(), chosen);
  return out;
}

}  // namespace raddle::curand
