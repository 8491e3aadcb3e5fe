// The counted opcodes of tests/data/ptx_opcodes.csv, taken apart.
#pragma once
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "raddle_paths.h"

namespace raddle::exec::test {

struct Counted {
  std::string text, base;
  std::vector<std::string> words, types;  ///< words: all, the base first
  unsigned apps = 0;
  bool has(const std::string& word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
};

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> all{""};
  for (char c : text) {
    if (c == at) all.emplace_back();
    else all.back() += c;
  }
  return all;
}

inline bool is_type(const std::string& word) {
  static const std::vector<std::string> kTypes = {
      "b8",  "b16", "b32", "b64",  "u8",   "u16", "u32", "u64",  "s8",   "s16",
      "s32", "s64", "f16", "bf16", "tf32", "f32", "f64", "pred", "f16x2"};
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

/// Every row of the file.
inline std::vector<Counted> counted_opcodes() {
  std::ifstream file(RADDLE_SOURCE_DIR "/tests/data/ptx_opcodes.csv");
  std::string line;
  std::getline(file, line);
  std::vector<Counted> all;
  while (std::getline(file, line)) {
    const auto columns = split(line, ',');
    Counted c{columns.at(0),
              columns.at(1),
              split(columns[0], '.'),
              {},
              static_cast<unsigned>(std::stoul(columns.at(2)))};
    for (const std::string& word : c.words)
      if (is_type(word)) c.types.push_back(word);
    all.push_back(c);
  }
  return all;
}

}  // namespace raddle::exec::test
