// Direction vectors of Sobol' sequences, of as many dimensions as joe_kuo.inc has.
#pragma once
#include <cstdint>

namespace raddle::curand {

/// NVIDIA's has 20,000; see joe_kuo.inc.
inline constexpr unsigned kDimensions = 5715;
inline constexpr unsigned kMaxDimensions = 20000;

/// A row of as many words as a word has bits for each dimension, in pages of their own. Reading
/// past the last dimension, where NVIDIA's library has more, ends the program.
template <class Word>
const Word* direction_vectors();
extern template const std::uint32_t* direction_vectors<std::uint32_t>();
extern template const std::uint64_t* direction_vectors<std::uint64_t>();

}  // namespace raddle::curand
