#include "raddle/config/spelling.h"

#include <algorithm>
#include <vector>

namespace raddle::config {

namespace {

/// Optimal string alignment distance (Damerau 1964, neighbours swapped once).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t minimum = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A short candidate is "near" every short word; it must share more than it changes.
    const std::size_t d = distance(word, candidate);
    if (d < minimum && d < std::max(word.size(), candidate.size())) {
      minimum = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace raddle::config
