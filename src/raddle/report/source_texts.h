// Lines of the CUDA sources that PTX names as what it was made from (nvcc -lineinfo).
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace raddle::report {

/// Reads files once each, and only regular ones whose names end as sources do. What was compiled
/// elsewhere is not there, and is no error.
class SourceTexts {
 public:
  /// Without the blanks around it; "" where the file or the line is not there.
  std::string line(const std::string& file, std::size_t number);

 private:
  const std::vector<std::string>& lines_of(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

/// Of the lines that the analysis "source" of these results has figures of: file -> number -> text.
nlohmann::ordered_json source_texts(const std::vector<const nlohmann::ordered_json*>& results);

}  // namespace raddle::report
