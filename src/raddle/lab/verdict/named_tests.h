// Tests that rows name (`tested_by`), run from the test programs that were built beside this one.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace raddle::lab {

enum class TestOutcome : std::uint8_t { Passed, Failed, NotBuilt };

/// "tests/worked/steal.cpp: Suite.Test" to how it came out.
using TestOutcomes = std::map<std::string, TestOutcome>;

/// Runs each of `tests` once; those of a file in tests/FOLDER are in PROGRAMS/test_FOLDER (slashes
/// become underscores), all of one program in one process. A parameterised test passes when it does
/// with all parameters. A test that its program does not have, or does not finish in ten minutes,
/// has failed. `stop`, asked now and then, ends the program under way; throws RunError then.
TestOutcomes run_named_tests(const std::vector<std::string>& tests,
                             const std::filesystem::path& programs,
                             const std::function<bool()>& stop = nullptr);

}  // namespace raddle::lab
