// Colours on a terminal. They only repeat what the words say, so that nothing is lost without them.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace raddle::cli {

/// Is `out` a terminal that shows colours, and does nobody ask for none? NO_COLOR that is not empty
/// (https://no-color.org) and TERM=dumb do.
bool shows_colours(std::FILE* out);

class Colours {
 public:
  explicit Colours(bool on) : on_(on) {}
  std::string heading(std::string_view text) const { return in("1", text); }
  /// A share of the whole: the larger, the more it stands out.
  std::string share(double share, std::string_view text) const {
    constexpr double kDominant = 0.25, kMuch = 0.1;
    return share >= kDominant ? in("1;31", text)
           : share >= kMuch   ? in("33", text)
                              : std::string(text);
  }

 private:
  std::string in(std::string_view code, std::string_view text) const {
    if (!on_) return std::string(text);
    return std::string("\033[").append(code).append("m").append(text).append("\033[0m");
  }

  bool on_;
};

}  // namespace raddle::cli
