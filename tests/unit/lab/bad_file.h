// A change to a sound experiment file, and what must be said of it.
#pragma once
#include "unit/lab/support.h"

namespace raddle::lab::test {

struct Bad {
  const char* name;
  std::string from, to;  ///< the change to kWhole; from "" = append
  std::vector<std::string> said;
};

inline void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }
inline std::string bad_name(const testing::TestParamInfo<Bad>& info) { return info.param.name; }

/// Refused, naming the file, with every word.
inline void expect_refused_file(const Bad& bad) {
  std::string text = kWhole;
  if (bad.from.empty()) {
    text += bad.to;
  } else {
    const std::size_t at = text.find(bad.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, bad.from.size(), bad.to);
  }
  const std::string message = input_error_of([&] { read(text); });
  EXPECT_THAT(message, HasSubstr("x.toml:"));
  for (const std::string& word : bad.said) EXPECT_THAT(message, HasSubstr(word));
}

}  // namespace raddle::lab::test
