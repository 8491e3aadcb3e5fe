// Messages that echo input which has no end.
#pragma once
#include <string>

namespace raddle {

/// A message of which nobody has to read more than a screen: what it quotes from the input ('...',
/// or a word without a blank) is cut at 80 characters, all of it at some thousands. Each message of
/// an InputError is cut like this.
std::string shortened(const std::string& message);

}  // namespace raddle
