#include "raddle/lab/program.h"

#include "raddle_paths.h"

namespace raddle::lab {

std::string program_name() {
  return std::string(RADDLE_VERSION) + "+" + std::string(sources_hash());
}

}  // namespace raddle::lab
