// Far steps of MT19937, by its characteristic polynomial (Haramoto et al., Efficient jump ahead for
// F2-linear random number generators, 2008).
#pragma once
#include <vector>

namespace raddle::curand {

/// 624 words that a seed makes.
std::vector<unsigned> twister_state(unsigned seed);
/// 2^2048 steps further. Of the first word, only the highest bit belongs to the state.
std::vector<unsigned> twister_jumped(const std::vector<unsigned>& state);

}  // namespace raddle::curand
