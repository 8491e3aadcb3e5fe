// The analysis "source" as text: the lines at which warps spend most of their time.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace raddle::cli {

struct SourceTableOptions {
  enum class Lines {
    Known,  ///< of the CUDA source where the PTX names them, else of the PTX
    Ptx,
  };
  Lines lines = Lines::Known;
  std::size_t maximum = 12;  ///< of a kernel; 0: all
};

/// `source`: the table of that analysis (sim/analyses/source.cpp). Text of CUDA lines is read
/// from the files that the PTX names, where they can be read.
std::string source_table(const nlohmann::ordered_json& source, const SourceTableOptions& options);

}  // namespace raddle::cli
