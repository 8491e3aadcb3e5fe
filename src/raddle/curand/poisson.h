// Tables of Poisson distributions.
#pragma once
#include <vector>

namespace raddle::curand {

/// Marsaglia, Tsang and Wang, Fast generation of discrete random variables, 2004: columns of equal
/// width, each of one number below value[j] and of another above.
struct AliasTable {
  std::vector<double> value;
  std::vector<unsigned> other;
  unsigned shift = 0;
};
AliasTable alias_table(double mean);

/// Probabilities of at most shift + j.
struct SumTable {
  std::vector<double> value;
  unsigned shift = 0;
};
SumTable sum_table(double mean);

}  // namespace raddle::curand
