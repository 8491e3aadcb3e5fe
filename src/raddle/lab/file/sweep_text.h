// Several values of a setting in one text: "l2.size_kib=96,192", "policy.throttle.limit=1..32".
#pragma once
#include <string>
#include <vector>

namespace raddle::lab {

inline constexpr std::size_t kMaxSwept = 256;  ///< values

struct SweepText {
  std::string path;
  std::vector<std::string> values;  ///< each once
  std::string origin;               ///< where errors say that it stands
};

/// PATH=ITEM,... where an item is a value, FIRST..LAST or FIRST..LAST:STEP. `origin` stands for the
/// place in errors. Throws InputError.
SweepText read_sweep(const std::string& text, const std::string& origin);

}  // namespace raddle::lab
