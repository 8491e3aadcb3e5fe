// The files of experiments/, embedded in the program.
#pragma once
#include <string_view>
#include <vector>

namespace raddle::lab {

struct EmbeddedExperiment {
  std::string_view paper, file, toml;  ///< "ccws", "fig07.toml"
};
/// In order of name (generated; see cmake/generated.cmake).
std::vector<EmbeddedExperiment> embedded_experiments();

}  // namespace raddle::lab
