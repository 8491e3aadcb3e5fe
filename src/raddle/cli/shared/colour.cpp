#include "raddle/cli/shared/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace raddle::cli {

bool shows_colours(std::FILE* out) {
  const char *no_colour = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return isatty(fileno(out)) != 0;
}

}  // namespace raddle::cli
