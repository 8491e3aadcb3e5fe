// "Did you mean ...?"
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace raddle::config {

/// The candidate that takes the fewest insertions, deletions, replacements and swaps of neighbours
/// to become `word`; "" when none is within a third of the word's length (at least two). Ties: the
/// first.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace raddle::config
