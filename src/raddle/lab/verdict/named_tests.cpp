#include "raddle/lab/verdict/named_tests.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/lab/host/command.h"
#include "raddle/lab/host/files.h"

namespace raddle::lab {
namespace {

namespace fs = std::filesystem;
using SortedJson = nlohmann::json;

constexpr std::chrono::seconds kLimit = std::chrono::minutes(10);

struct Name {
  std::string program, suite, test;
};

Name parsed(const std::string& text) {
  const std::size_t colon = text.find(": ");
  const std::size_t dot = text.find('.', colon);
  // The reader has seen to it.
  RADDLE_ASSERT(colon != std::string::npos && dot != std::string::npos);
  const fs::path file = text.substr(0, colon);
  std::string program = "test";
  for (const fs::path& part : file.parent_path().lexically_relative("tests"))
    program += "_" + part.string();
  return {program, text.substr(colon + 2, dot - colon - 2), text.substr(dot + 1)};
}

/// Of "Prefix/Suite" and "Test/0" what stands in the source.
std::string suite_of(const std::string& full) { return full.substr(full.find('/') + 1); }
std::string test_of(const std::string& full) { return full.substr(0, full.find('/')); }

/// What GoogleTest wrote of one run: did every test of that name that ran pass?
std::map<std::string, bool> passed_in(const SortedJson& report) {
  std::map<std::string, bool> out;
  for (const SortedJson& suite : report.value("testsuites", SortedJson::array()))
    for (const SortedJson& test : suite.value("testsuite", SortedJson::array())) {
      const std::string name =
          suite_of(suite.value("name", "")) + "." + test_of(test.value("name", ""));
      const bool passed = test.value("result", "") == "COMPLETED" && !test.contains("failures");
      const auto [at, first] = out.emplace(name, passed);
      at->second = at->second && passed;
    }
  return out;
}

}  // namespace

TestOutcomes run_named_tests(const std::vector<std::string>& tests, const fs::path& programs,
                             const std::function<bool()>& stop) {
  TestOutcomes out;
  std::map<std::string, std::vector<std::string>> by_program;
  for (const std::string& text : tests)
    if (out.emplace(text, TestOutcome::NotBuilt).second)
      by_program[parsed(text).program].push_back(text);
  for (const auto& [program, texts] : by_program) {
    const fs::path path = programs / program;
    if (access(path.c_str(), X_OK) != 0) continue;
    std::string filter;
    for (const std::string& text : texts) {
      const Name name = parsed(text);
      filter += fmt::format("{}{}.{}:*/{}.{}/*", filter.empty() ? "" : ":", name.suite, name.test,
                            name.suite, name.test);
    }
    const TemporaryFolder folder("raddle-tests");
    const fs::path written = folder.path() / "report.json";
    const CommandOutcome ended =
        run_command({path.string(), "--gtest_brief=1", "--gtest_filter=" + filter,
                     "--gtest_output=json:" + written.string()},
                    kLimit, stop);
    if (ended.stopped) throw RunError("interrupted in the tests that rows name: " + program);
    const SortedJson report =
        SortedJson::parse(read_whole(written).value_or(""), nullptr, /*allow_exceptions=*/false);
    const auto passed = report.is_object() ? passed_in(report) : std::map<std::string, bool>();
    for (const std::string& text : texts) {
      const Name name = parsed(text);
      const auto at = passed.find(name.suite + "." + name.test);
      out[text] = at != passed.end() && at->second ? TestOutcome::Passed : TestOutcome::Failed;
    }
  }
  return out;
}

}  // namespace raddle::lab
