// The project's own sources as data, for the rules of the house.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::house {

struct SourceFile {
  std::string path;  ///< from the repository root, with '/'
  std::string text;
};

/// Every .h, .cpp and .cc below `folder` (from the repository root), in order of path.
std::vector<SourceFile> sources(const std::string& folder);

/// `text` with comments and the content of literals replaced by blanks; lines keep their numbers.
/// The names of #include lines stay.
std::string code_of(std::string_view text);

struct Include {
  unsigned line;     ///< from 1
  std::string path;  ///< as written between the quotes or angle brackets
};
std::vector<Include> includes_of(std::string_view text);

/// The lines of `code` (as of code_of) in which `word` stands as a whole identifier or qualified
/// name.
std::vector<unsigned> lines_with(std::string_view code, std::string_view word);

}  // namespace raddle::house
