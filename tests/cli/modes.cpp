// Every option of a command that has several ways to go about its work says in which it holds, and
// the others refuse it by name: none is silently ignored.
#include "raddle/cli/shared/modes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/cli/cli.h"
#include "raddle/cli/commands/commands.h"
#include "support/errors.h"

namespace raddle::cli::modes_test {
namespace {

using testing::HasSubstr;

/// How each command is asked for each of its modes; options go where @ stands.
const std::map<std::string, std::map<Mode, std::string>> kAsked = {
    {"run",
     {{Mode::Workload, "run vecadd size=tiny @"},
      {Mode::Functional, "run vecadd size=tiny --functional @"},
      {Mode::Cuda, "run vecadd size=tiny --on cuda @"},
      {Mode::Corun, "run vecadd size=tiny + vecadd size=tiny --horizon 10 @"}}},
    {"exec",
     {{Mode::Program, "exec @ -- /proc/nowhere/app"},
      {Mode::Functional, "exec --functional @ -- /proc/nowhere/app"}}},
    {"compare",
     {{Mode::Compared, "compare vecadd size=tiny --policies lrr,gto @"},
      {Mode::Kept, "compare vecadd size=tiny --policies lrr,gto --results /proc/nowhere/kept @"}}},
    {"replay",
     {{Mode::Trace, "replay /proc/nowhere/a.rdl @"},
      {Mode::Corun, "replay /proc/nowhere/a.rdl + /proc/nowhere/b.rdl --horizon 10 @"}}},
    {"record",
     {{Mode::Workload, "record vecadd size=tiny -o /proc/nowhere/a.rdl @"},
      {Mode::Program, "record -o /proc/nowhere/a.rdl @ -- /bin/true"},
      {Mode::Trace, "record /proc/nowhere/b.rdl -o /proc/nowhere/a.rdl @"}}},
    {"validate",
     {{Mode::Compared, "validate vecadd size=tiny --libcuda /proc/nowhere/cuda.so @"},
      {Mode::Measured, "validate --measured /proc/nowhere/m.csv @"},
      {Mode::Suite, "validate --suite nothing @"},
      {Mode::OwnProfile, "validate --ncu /proc/nowhere/p.csv vecadd size=tiny @"},
      {Mode::MeasureOnly, "validate vecadd --measure-only --libcuda /proc/nowhere/cuda.so @"}}},
    {"cache",
     {{Mode::Workload, "analyze cache vecadd size=tiny @"},
      {Mode::Program, "analyze cache @ -- /proc/nowhere/app"},
      {Mode::Trace, "analyze cache /proc/nowhere/a.rdl @"}}},
    {"bounds", {{Mode::Compared, "analyze bounds vecadd size=tiny @"}}},
    {"footprint", {{Mode::Functional, "analyze footprint vecadd size=tiny @"}}}};

/// A value that the option's own check lets pass.
std::string value_of(const CLI::Option& option) {
  static const std::map<std::string, std::string> kValues = {{"--gpu", "v100"},
                                                             {"--set", "sm.count=2"},
                                                             {"--policy", "warp=gto"},
                                                             {"--launches", "all"},
                                                             {"--check", "races"},
                                                             {"--out-of-bounds", "fault"},
                                                             {"--sampling-error", "0.03"},
                                                             {"--half", "first"},
                                                             {"--clock-control", "none"},
                                                             {"--cache-control", "none"},
                                                             {"--replay-as", "none"},
                                                             {"--timeline-events", "2000"},
                                                             {"--on", "simulator"}};
  if (option.get_expected_max() == 0) return "";  // a flag
  const auto known = kValues.find(option.get_name());
  return known == kValues.end() ? "2" : known->second;
}

/// These choose the mode: where they do not hold yet, they make another.
const std::set<std::string> kChoosing = {"--functional", "--horizon", "--results",
                                         "--measured",   "--suite",   "--measure-only",
                                         "--ncu",        "--nsys"};

/// What is said of a command line that is refused.
std::string refusal(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words = {"raddle"};
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  const int status = run(static_cast<int>(argv.size()), argv.data());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status, 2) << line << "\n" << said;
  return said;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> out;
  for (const CLI::Option* option : app.get_options())
    if (option->nonpositional() && option != app.get_help_ptr()) out.push_back(option);
  return out;
}

/// All that have modes, analyses among them.
std::vector<DeclaredModes> declared(CLI::App& app) {
  std::vector<DeclaredModes> out;
  for (const Command& command :
       {add_run(app, {}), add_exec(app, {}), add_compare(app, {}), add_replay(app, {}),
        add_record(app, {}), add_analyze(app, {}), add_validate(app, {})}) {
    EXPECT_FALSE(command.modes.empty()) << command.app->get_name();
    out.insert(out.end(), command.modes.begin(), command.modes.end());
  }
  return out;
}

TEST(Modes, EveryOptionSaysWhereItHolds) {
  CLI::App app;
  unsigned options = 0;
  for (const DeclaredModes& one : declared(app))
    for (const CLI::Option* option : options_of(*one.app)) {
      EXPECT_TRUE(one.modes->knows(option))
          << one.app->get_name() << " " << option->get_name() << " is not declared";
      ++options;
    }
  EXPECT_GT(options, 150u);
}

TEST(Modes, WhatDoesNotHoldIsRefusedByName) {
  CLI::App app;
  unsigned refused = 0;
  for (const DeclaredModes& one : declared(app)) {
    const auto asked = kAsked.find(one.app->get_name());
    if (asked == kAsked.end()) continue;  // an analysis like cache or footprint
    for (const auto& [mode, line] : asked->second)
      for (const CLI::Option* option : options_of(*one.app)) {
        if (one.modes->of(option).contains(mode) || kChoosing.contains(option->get_name()))
          continue;
        if (option->get_name().empty()) continue;  // nothing that a command line can name
        std::string words = line;
        words.replace(words.find('@'), 1, option->get_name() + " " + value_of(*option));
        const std::string said = refusal(words);
        EXPECT_THAT(said, HasSubstr(option->get_name())) << words;
        EXPECT_TRUE(said.find(" does not hold for ") != std::string::npos ||
                    said.find(" exclude each other") != std::string::npos ||
                    said.find(" are for run") != std::string::npos)
            << words << "\n"
            << said;
        ++refused;
      }
  }
  EXPECT_GT(refused, 100u);
}

TEST(Modes, EveryModeOfACommandIsWalked) {
  CLI::App app;
  for (const DeclaredModes& one : declared(app)) {
    const auto asked = kAsked.find(one.app->get_name());
    if (asked == kAsked.end() || one.app->get_name() == "cache" ||
        one.app->get_name() == "footprint")
      continue;
    for (std::size_t i = 0; i < kModeNames.size(); ++i) {
      const auto mode = static_cast<Mode>(i);
      EXPECT_TRUE(asked->second.contains(mode) || !one.modes->of_command().contains(mode))
          << one.app->get_name() << ": " << kModeNames[i];
    }
  }
}

TEST(Modes, TheMessageSaysWhatTheOptionIsFor) {
  CLI::App app;
  OptionModes modes("sing", {Mode::Workload, Mode::Cuda, Mode::Corun});
  unsigned voices = 0;
  modes.add(app.add_option("--voices", voices), {Mode::Cuda, Mode::Corun, Mode::Kept});
  app.parse("--voices 3");
  EXPECT_NO_THROW(modes.check(Mode::Cuda));
  EXPECT_EQ(test::input_error_of([&] { modes.check(Mode::Workload); }),
            "sing: --voices does not hold for a simulated workload: leave it out; it is for a run "
            "on a real GPU (--on cuda), a co-run (A + B with --horizon)");
  app.parse("");
  EXPECT_NO_THROW(modes.check(Mode::Workload)) << "it was not given";
}

}  // namespace
}  // namespace raddle::cli::modes_test
