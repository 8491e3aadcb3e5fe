// How lengths come apart.
#pragma once
#include <vector>

namespace raddle::cufft {

/// Whether n is a product of numbers from 2 to 13, for which there are butterflies.
bool is_smooth(long long n);

bool is_power_of_two(int n);

/// Radices whose product is n (smooth), in the order of the stages: odd ones, then as many eights
/// as there are, last a four or a two. So only the last stage writes far apart with fewer than 8.
std::vector<int> radices_of(int n);

/// As few factors of n (smooth) as can be, none larger than `limit`; of these the choice whose
/// largest is smallest. Empty when there is none.
std::vector<int> split(long long n, int limit);

}  // namespace raddle::cufft
