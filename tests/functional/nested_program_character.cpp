// What amr, bht, regx, pre and join amount to at size small, seed 1: the tables in their READMEs
// are what is counted here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "common/child_launches.h"
#include "functional/nested_profile.h"
#include "raddle_paths.h"
#include "support/process.h"

namespace raddle::runtime::nested_program_character_test {
namespace {

using ::testing::HasSubstr;

constexpr double kL2Kib = 1536;  // of LaPerm's machine
constexpr std::uint64_t kSms = 13, kResidentChildren = 16;

struct Input {
  std::string name;
  Parameters parameters;
  std::uint64_t resident;  ///< blocks of the parent that an SM holds
};
// Without it a failure prints the bytes.
void PrintTo(const Input& input, std::ostream* out) { *out << input.name; }
std::string input_name(const ::testing::TestParamInfo<Input>& info) {
  std::string text = info.param.name;
  for (const auto& [key, value] : info.param.parameters) text += "_" + value;
  return text;
}
std::string label(const Input& input) {
  const auto at = input.parameters.find("input");
  return at == input.parameters.end() ? "the input" : "`" + at->second + "`";
}

std::string by_generation(const NestedProfile& profile) {
  std::string text;
  for (const auto& [depth, launches] : profile.launches_at)
    text += (text.empty() ? "" : " + ") + std::to_string(launches);
  return text;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The row of the README's table.
std::string row(const Input& input, const NestedProfile& p) {
  const double mean = static_cast<double>(p.child_blocks) / static_cast<double>(p.launching_blocks);
  return fmt::format(
      "| {} | {} | {:.0f} % | {:.1f} % | {} | {} | {} to {} | {:.1f}, {} | {:.0f} % | {:.0f} |",
      label(input), p.parent_blocks, percent(p.launching_parent_blocks, p.parent_blocks),
      percent(p.launching_parent_threads, p.parent_threads), by_generation(p), p.child_blocks,
      p.min_blocks, p.max_blocks, mean, p.max_child_blocks,
      percent(p.child_instructions, p.child_instructions + p.parent_instructions), p.kib());
}

class ProgramCharacter : public ::testing::TestWithParam<Input> {};
INSTANTIATE_TEST_SUITE_P(Small, ProgramCharacter,
                         ::testing::Values(Input{"amr", {{"input", "combustion"}}, 8},
                                           Input{"bht", {}, 16},
                                           Input{"regx", {{"input", "darpa"}}, 16},
                                           Input{"regx", {{"input", "strings"}}, 16},
                                           Input{"pre", {}, 16},
                                           Input{"join", {{"input", "uniform"}}, 8},
                                           Input{"join", {{"input", "gaussian"}}, 8}),
                         input_name);

// Schedulers of blocks need some that wait: parents for a place, and children.
TEST_P(ProgramCharacter, IsWhatTheReadmeSaysAndMoreThanTheMachineHolds) {
  const Input& input = GetParam();
  const NestedProfile profile = nested_profile(input.name, input.parameters, Size::Small);
  const std::string readme =
      test::read_file(RADDLE_SOURCE_DIR "/workloads/" + input.name + "/README.md");
  EXPECT_THAT(readme, HasSubstr(row(input, profile)));
  EXPECT_GT(profile.parent_blocks, kSms * input.resident);
  EXPECT_GT(profile.child_blocks, 2 * kSms * kResidentChildren);
  EXPECT_LE(profile.launches, workloads::kPendingLaunches);
}

TEST(ProgramCharacter, OneRootOfAmrDiesOut) {
  const NestedProfile profile =
      nested_profile("amr", {{"input", "root"}, {"levels", "20"}}, Size::Small);
  const std::string readme = test::read_file(RADDLE_SOURCE_DIR "/workloads/amr/README.md");
  EXPECT_THAT(readme, HasSubstr(by_generation(profile) + " launches"));
  EXPECT_LT(profile.launches_at.size(), 20u);
}

// The data are more than the L2 holds, or nearly.
TEST(ProgramCharacter, WhatJoinAndAmrWriteFillsTheL2) {
  EXPECT_GT(nested_profile("amr", {}, Size::Small).kib(), kL2Kib);
  EXPECT_GT(nested_profile("join", {}, Size::Small).kib(), kL2Kib);
}

}  // namespace
}  // namespace raddle::runtime::nested_program_character_test
