#include "raddle/curand/directions.h"

#include <sys/mman.h>

#include <new>
#include <string_view>
#include <vector>

#include "raddle/curand/kernels/quasirandom.h"

namespace raddle::curand {

namespace {

constexpr std::string_view kLines[] = {
#include "raddle/curand/joe_kuo.inc"
};
constexpr int kMaxDegree = 16;
/// Primitive polynomials over the field of two elements, of each degree from 1 on.
constexpr unsigned kPolynomials[kMaxDegree] = {1,  1,  2,   2,   6,   6,   18,   16,
                                               48, 60, 176, 144, 630, 756, 1800, 2048};

class Bits {
 public:
  unsigned take(int count) {
    unsigned out = 0;
    for (int i = 0; i < count; ++i, ++at_) out = out << 1 | next();
    return out;
  }

 private:
  static constexpr std::size_t kLetterBits = 6;
  unsigned next() const {
    const std::size_t letter = at_ / kLetterBits;
    const std::size_t each = kLines[0].size();
    const auto value = value_of(kLines[letter / each][letter % each]);
    return value >> (kLetterBits - 1 - at_ % kLetterBits) & 1;
  }
  static unsigned value_of(char letter) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return static_cast<unsigned>(kLetters.find(letter));
  }
  std::size_t at_ = 0;
};

/// The recursion of a dimension's odd numbers m_i, each at the top i bits of a word.
template <class Word>
void fill_dimension(Word* to, int degree, unsigned inner, const std::vector<Word>& first) {
  constexpr int kWordBits = kBitsOf<Word>;
  for (int i = 0; i < kWordBits; ++i) {
    if (i < degree) {
      to[i] = first[static_cast<std::size_t>(i)] << (kWordBits - 1 - i);
      continue;
    }
    Word value = to[i - degree] ^ (to[i - degree] >> degree);
    for (int k = 1; k < degree; ++k)
      if ((inner >> (degree - 1 - k) & 1) != 0) value ^= to[i - k];
    to[i] = value;
  }
}

/// Space for all dimensions that NVIDIA's library has; only pages with ours can be read.
template <class Word>
Word* pages() {
  constexpr std::size_t kEach = kBitsOf<Word> * sizeof(Word), kPage = 4096;
  void* const at = mmap(nullptr, kMaxDimensions * kEach, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const std::size_t used = (kDimensions * kEach + kPage - 1) / kPage * kPage;
  if (at == MAP_FAILED || mprotect(at, used, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return static_cast<Word*>(at);
}

template <class Word>
const Word* filled() {
  Word* const out = pages<Word>();
  Word* to = out;
  for (int i = 0; i < kBitsOf<Word>; ++i) to[i] = Word{1} << (kBitsOf<Word> - 1 - i);
  Bits bits;
  for (int degree = 1; degree <= kMaxDegree; ++degree)
    for (unsigned i = 0; i < kPolynomials[degree - 1]; ++i) {
      to += kBitsOf<Word>;
      const unsigned inner = bits.take(degree - 1);
      std::vector<Word> first{1};
      for (int k = 1; k < degree; ++k) first.push_back(bits.take(k) * 2 + 1);
      fill_dimension(to, degree, inner, first);
    }
  return out;
}

}  // namespace

template <class Word>
const Word* direction_vectors() {
  static const Word* const vectors = filled<Word>();
  return vectors;
}
template const std::uint32_t* direction_vectors<std::uint32_t>();
template const std::uint64_t* direction_vectors<std::uint64_t>();

}  // namespace raddle::curand
