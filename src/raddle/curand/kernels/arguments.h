// What host code and kernels say to each other. Plain types: both compilers lay them out alike.
#pragma once

namespace raddle::curand {

/// What becomes of the bits of a generator. Kernels are named by it (names.h).
enum Distribution : int {
  kBits,
  kUniform,
  kUniformDouble,
  kNormal,
  kNormalDouble,
  kLogNormal,
  kLogNormalDouble,
  kPoisson,         ///< by an alias table
  kPoissonNormal,   ///< rounded from a normal distribution
  kPoissonInverse,  ///< by the inverse of the sum of probabilities
};

/// Parameters of a distribution.
struct Shape {
  double mean, deviation;  ///< of the normal distribution; of a Poisson distribution, too
  /// Alias table of `length` columns of equal width: column j gives j up to value[j], else
  /// other[j]; `shift` is added. Inverse: value[j] is the probability of at most j + shift.
  const double* value;
  const unsigned* other;
  unsigned length, shift;
};

inline constexpr int kThreads = 256;

/// XORWOW and MRG32k3a: subsequences that are dealt out in turn, one thread each. Thread k has
/// subsequence (first + k) mod count, and units k, k + count, ... of the call; a unit is a number,
/// or a pair of normally distributed ones.
struct SequenceDraw {
  void* to;
  long long units;
  unsigned* state;  ///< word w of subsequence s: state[w * count + s]
  unsigned count, first;
  Shape shape;
};
inline constexpr int kXorwowWords = 6;
inline constexpr int kMrgWords = 6;
/// Behind the generator's words: the number that a Poisson distribution left of a pair, and whether
/// there is one.
inline constexpr int kSpareWords = 2;

/// Starting states of subsequences `from` to `to`: s = row * columns + column gets
/// jump[column] applied to base[row], and one step more when s < extra.
struct SequenceSeed {
  unsigned* state;
  unsigned count, from, to;
  const unsigned* base;
  const unsigned* jump;
  unsigned columns, extra;
};
inline constexpr unsigned kXorwowColumns = 64;
inline constexpr unsigned kXorwowJumpWords =
    160 * 5;  ///< a column of 5 words for each bit of state
inline constexpr unsigned kMrgColumns = 320;
inline constexpr unsigned kMrgJumpWords = 18;  ///< two matrices of 3 x 3, by rows

/// XORWOW with a seed of its own for each subsequence; `jump`, if any, is applied to the state.
struct SeededDraw {
  unsigned* state;
  unsigned count, from, to;
  unsigned long long seed;
  const unsigned* jump;
  unsigned added;  ///< to the Weyl sequence
  unsigned extra;
};
inline constexpr unsigned kSeedStep = 0x2fd111;

/// Philox4x32-10: groups of four numbers, dealt out in turn. Thread k has groups k, k + count, ...
/// of the call, of subsequence (first + k) mod count.
struct PhiloxDraw {
  void* to;
  long long units;           ///< numbers
  int skipped;               ///< of the first group
  unsigned long long* used;  ///< steps that a subsequence has made
  unsigned count, first;
  unsigned long long seed, offset;  ///< the sequence starts at this group
  Shape shape;
};

/// MTGP32, one block for each of `count` parameter sets: chunks of 256 numbers, dealt out in turn.
/// Numbers start .. start + units of all.
struct MtgpDraw {
  void* to;
  unsigned long long start;
  long long units;
  unsigned* state;             ///< kMtgpWords of each set; that of the chunk to come
  const unsigned* parameters;  ///< kMtgpParameters of each set
  unsigned count;
  unsigned seed;  ///< of the kernel that makes starting states
  Shape shape;
};
inline constexpr int kMtgpWords = 351;
inline constexpr int kMtgpChunk = 256;
/// pos, sh1, sh2, then four rows that span each of the two tables of 16.
inline constexpr int kMtgpParameters = 11;
inline constexpr unsigned kMtgpMask = 0xfff80000u;

/// MT19937, one block for each of 8192 subsequences: eights, dealt out in turn, in an order within
/// each 624 that lets several be made at once.
struct TwisterDraw {
  void* to;
  unsigned long long start;
  long long units;
  unsigned* state;  ///< kTwisterWords of each, and how often they were renewed
  unsigned first;   ///< subsequence of the first block
  Shape shape;
};
inline constexpr int kTwisterWords = 624;
inline constexpr unsigned kTwisterCount = 8192;
inline constexpr int kTwisterRows = kTwisterWords / 8;

/// Sobol': block y is a dimension; its `points` lie together.
template <class Word>
struct SobolDraw {
  void* to;
  long long points;  ///< of each dimension
  unsigned long long start;
  const Word* vectors;  ///< as many as a word has bits, of each dimension
  Shape shape;
};

}  // namespace raddle::curand
