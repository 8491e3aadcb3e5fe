// How the tests of the command line call the program, and what they expect again and again.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/process.h"

namespace raddle::test {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// "run vecadd size=tiny" and, for what may hold blanks, further arguments.
inline Outcome raddle(const std::string& words, const std::vector<std::string>& more = {},
                      std::chrono::seconds limit = std::chrono::seconds(120)) {
  std::vector<std::string> arguments;
  std::istringstream in(words);
  for (std::string word; in >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_process(RADDLE_PROGRAM, arguments, limit);
}

/// Status 0, no word on standard error; the JSON on standard output.
inline Json json_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return Json::parse(outcome.out, nullptr, false);
}

/// Refused: status 2, one line on standard error holding every one of `words`, nothing on standard
/// output.
inline void expect_refused(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(line_count(outcome.err), 1u) << outcome.err;
  EXPECT_THAT(outcome.err, testing::StartsWith("raddle: "));
  for (const std::string& word : words) EXPECT_THAT(outcome.err, HasSubstr(word));
}

/// Failed while running: status 1, a message holding every one of `words`.
inline void expect_failed(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_THAT(outcome.err, testing::StartsWith("raddle: "));
  for (const std::string& word : words) EXPECT_THAT(outcome.err, HasSubstr(word));
}

}  // namespace raddle::test
