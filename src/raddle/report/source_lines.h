// What the analysis "source" says of each line of a kernel, ready to be put in order and printed.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace raddle::report {

/// One line, of the CUDA source or of the PTX; warps are those that looks have seen.
struct SourceLine {
  std::string file;  ///< of the CUDA source; "": a line of the PTX
  std::uint64_t line = 0;
  std::string instruction;  ///< of a line of the PTX
  std::uint64_t issued = 0, threads = 0, accesses = 0, memory_lines = 0, hits = 0, loads = 0,
                seen = 0, awaited = 0;
  std::map<std::string, std::uint64_t> waits;  ///< what has kept the warps that were seen there

  /// The larger of the warps that stood here and of those that needed what it loads.
  std::uint64_t weight() const { return seen > awaited ? seen : awaited; }
};

/// Of one of `kernels` of the analysis (sim/analyses/source.cpp), largest weight first. `cuda`:
/// instructions of one line of the CUDA source are one row, where the PTX names it.
std::vector<SourceLine> source_lines(const nlohmann::ordered_json& kernel, bool cuda);

}  // namespace raddle::report
