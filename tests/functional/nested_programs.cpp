// amr, bht, regx, pre and join, whose kernels launch kernels: right in both forms and at every
// limit, and they launch what their inputs say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "amr/refinement.h"
#include "bht/octree.h"
#include "functional/nested_profile.h"
#include "join/relations.h"
#include "pre/ratings.h"
#include "regx/expressions.h"

namespace raddle::runtime::nested_programs_test {
namespace {

using namespace workloads;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  std::string name;
  Parameters parameters;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string text = info.param.name;
  for (const auto& [key, value] : info.param.parameters) text += "_" + key + "_" + value;
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

/// Of each program all inputs.
std::vector<Case> each_input() {
  return {{"amr", {}},
          {"amr", {{"input", "root"}, {"levels", "20"}}},
          {"bht", {}},
          {"regx", {}},
          {"regx", {{"input", "strings"}}},
          {"pre", {}},
          {"join", {}},
          {"join", {{"input", "gaussian"}}}};
}

class ChildProgram : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Inputs, ChildProgram, ::testing::ValuesIn(each_input()), case_name);

// One item, one more and one less than a block, nothing to launch, everything launched.
INSTANTIATE_TEST_SUITE_P(
    Edges, ChildProgram,
    ::testing::Values(
        Case{"amr", {{"levels", "1"}}}, Case{"amr", {{"spots", "0"}}},
        Case{"amr", {{"threshold", "1"}, {"side", "8"}, {"levels", "1"}}},
        Case{"amr", {{"block", "32"}, {"side", "9"}}}, Case{"bht", {{"bodies", "1"}}},
        Case{"bht", {{"bodies", "65"}}}, Case{"bht", {{"leaf", "1"}, {"threshold", "1"}}},
        Case{"bht", {{"angle", "0.1"}, {"bodies", "64"}}}, Case{"bht", {{"levels", "8"}}},
        Case{"bht", {{"leaf", "64"}, {"bodies", "64"}}}, Case{"regx", {{"packets", "1"}}},
        Case{"regx", {{"packets", "33"}, {"block", "32"}}},
        Case{"regx", {{"threshold", "1"}, {"packets", "5"}}},
        Case{"regx", {{"ports_per_rule", "256"}}}, Case{"regx", {{"child_block", "1024"}}},
        Case{"pre", {{"items", "1"}}}, Case{"pre", {{"group", "1"}}},
        Case{"pre", {{"items", "129"}, {"block", "128"}, {"group", "64"}}},
        Case{"pre", {{"group", "64"}, {"child_block", "32"}, {"threshold", "1"}}},
        Case{"pre", {{"most_ratings", "1"}}}, Case{"join", {{"rows", "1"}, {"keys", "1"}}},
        Case{"join", {{"rows", "257"}, {"keys", "1"}}},
        Case{"join", {{"rows", "300"}, {"keys", "4096"}}},
        Case{"join", {{"block", "32"}, {"keys", "3"}}}),
    case_name);

TEST_P(ChildProgram, IsRightInBothFormsWithBothGrids) {
  for (const char* form : {"nested", "flat"})
    for (const char* persistent : {"false", "true"}) {
      Parameters parameters = GetParam().parameters;
      parameters.insert({{"form", form}, {"persistent", persistent}});
      auto workload = make_workload(GetParam().name, parameters);
      ASSERT_THAT(workload->violations(), IsEmpty());
      WatchedDevice device;
      workload->run(device, 3);
      EXPECT_EQ(workload->check(), "") << form << ", persistent=" << persistent;
    }
}

class ChildProgramTrees : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Inputs, ChildProgramTrees, ::testing::ValuesIn(each_input()), case_name);

// Children have streams of their own, so that none waits for another.
TEST_P(ChildProgramTrees, OnlyTheNestedFormLaunchesAndNoChildWaits) {
  Parameters parameters = GetParam().parameters;
  const NestedProfile nested = nested_profile(GetParam().name, parameters);
  parameters.insert({"form", "flat"});
  const NestedProfile flat = nested_profile(GetParam().name, parameters);
  EXPECT_GT(nested.launches, 0u);
  EXPECT_EQ(nested.waiting, 0u);
  EXPECT_EQ(flat.launches, 0u);
}

// 104 blocks, however many items: 13 SMs with 8 of 256 threads.
TEST_P(ChildProgramTrees, PersistentParentsHave104BlocksAndMakeTheSameLaunches) {
  Parameters parameters = GetParam().parameters;
  const NestedProfile plain = nested_profile(GetParam().name, parameters);
  parameters.insert({"persistent", "true"});
  const NestedProfile persistent = nested_profile(GetParam().name, parameters);
  EXPECT_EQ(persistent.parent_blocks, 104u);
  if (GetParam().name == "join") return;  // divides its rows by the blocks
  EXPECT_EQ(persistent.launches, plain.launches);
  EXPECT_EQ(persistent.child_blocks, plain.child_blocks);
}

// 41 or 42 rows of a partition have one key or two.
TEST(ChildPrograms, JoinsPersistentBlocksHaveAPartitionOfTheRowsEach) {
  const NestedProfile profile =
      nested_profile("join", {{"rows", "4300"}, {"keys", "40"}, {"persistent", "true"}});
  Rng rng(1, "join/keys");
  const auto left = sorted_keys(KeyKind::Uniform, 4300, 40, rng);
  const auto right = sorted_keys(KeyKind::Uniform, 4300, 40, rng);
  std::uint64_t launches = 0;
  for (const JoinMatch& match : plan_join(left, right, 104, 256).matches)
    launches += match.count >= 32;
  EXPECT_EQ(profile.launches, launches);
  EXPECT_GT(launches, 1000u);
}

TEST(ChildPrograms, ThresholdsNobodyReachesLaunchNothing) {
  for (const char* name : {"bht", "regx", "pre", "join"})
    EXPECT_EQ(nested_profile(name, {{"threshold", "1000000"}}).launches, 0u) << name;
  EXPECT_EQ(nested_profile("amr", {{"threshold", "1000000"}}).launches, 0u);
}

// --- As many launches as the host's model of the input says ---

TEST(ChildPrograms, AmrLaunchesOneBlockForEachRefinedCell) {
  for (const std::uint32_t levels : {1u, 2u, 3u}) {
    const NestedProfile profile =
        nested_profile("amr", {{"levels", std::to_string(levels)}, {"peak", "400"}});
    Rng rng(1, "amr/start");
    const Gas gas{100, 20'000, 1e-4, 0.5};
    const auto refined =
        refined_cells(make_combustion({16, 1, 0.5, 400}, rng), gas, levels, 1u << 21);
    std::map<std::uint32_t, std::uint64_t> expected;
    for (std::size_t level = 0; level < refined.size(); ++level)
      if (refined[level] != 0) expected[static_cast<std::uint32_t>(level) + 1] = refined[level];
    EXPECT_EQ(profile.launches_at, expected) << levels;
    EXPECT_EQ(profile.child_blocks, profile.launches);
  }
}

TEST(ChildPrograms, BhtLaunchesTheSubTreesThatTheHostCounts) {
  const NestedProfile profile = nested_profile(
      "bht", {{"bodies", "2000"}, {"threshold", "8"}, {"angle", "0.8"}, {"leaf", "2"}});
  Rng rng(1, "bht/bodies");
  const Octree tree = make_octree(2000, 2, rng);
  SubTrees expected;
  for (const Mass& group : make_groups(tree, 32)) {
    const SubTrees of_group = count_sub_trees(tree, group, {static_cast<float>(1 / 0.8), 8}, 1,
                                              static_cast<std::uint32_t>(tree.cell.size()), 0.5f);
    expected.launches += of_group.launches;
    expected.depth = std::max(expected.depth, of_group.depth);
  }
  EXPECT_EQ(profile.launches, expected.launches);
  EXPECT_EQ(profile.launches_at.size(), expected.depth);
  EXPECT_GE(expected.depth, 2u);
  EXPECT_EQ(profile.child_blocks, profile.launches);
}

TEST(ChildPrograms, RegxLaunchesWholeBlocksForEachExpressionOfALongPacket) {
  const NestedProfile profile =
      nested_profile("regx", {{"packets", "40"}, {"threshold", "100"}, {"child_block", "64"}});
  Rng rng(1, "regx/packets");
  const RuleSet rules = make_rules(8, 4, rng);
  std::uint64_t launches = 0, blocks = 0;
  for (const Packet& packet : make_packets(PacketKind::Darpa, 40, rules, rng)) {
    const std::uint64_t count = rules.rule_first[packet.port + 1] - rules.rule_first[packet.port];
    if (packet.payload.size() < 100) continue;
    launches += count;
    blocks += count * (packet.payload.size() / 64);
  }
  EXPECT_EQ(profile.launches, launches);
  EXPECT_EQ(profile.child_blocks, blocks);
}

// The items of a group are fewer than a child's block: it is not full. In wide groups children
// take whole blocks.
TEST(ChildPrograms, PreLaunchesWholeBlocksOrOneThatIsNotFull) {
  for (const char* child_block : {"32", "64"}) {
    const NestedProfile profile = nested_profile(
        "pre", {{"child_block", child_block}, {"threshold", "4"}, {"per_user", "30"}});
    Rng rng(1, "pre/ratings");
    const Ratings ratings =
        make_ratings({.items = 64, .users = 20, .per_user = 30, .group = 64, .maximum = 6}, rng);
    std::uint64_t launches = 0, blocks = 0;
    for (std::uint32_t item = 0; item < 64; ++item) {
      const std::uint32_t count = ratings.together_first[item + 1] - ratings.together_first[item];
      if (count < 4) continue;
      ++launches;
      blocks += std::max<std::uint64_t>(1, count / std::stoul(child_block));
    }
    EXPECT_EQ(profile.launches, launches);
    EXPECT_EQ(profile.child_blocks, blocks);
    EXPECT_GT(launches, 10u);
  }
}

TEST(ChildPrograms, JoinLaunchesWholeBlocksForEachMatchFromTheThresholdOn) {
  const NestedProfile profile =
      nested_profile("join", {{"input", "gaussian"}, {"rows", "600"}, {"threshold", "40"}});
  Rng rng(1, "join/keys");
  const auto left = sorted_keys(KeyKind::Gaussian, 600, 5, rng);
  const auto right = sorted_keys(KeyKind::Gaussian, 600, 5, rng);
  std::uint64_t launches = 0, blocks = 0;
  for (const JoinMatch& match : plan_join(left, right, 3, 256).matches) {
    if (match.count < 40) continue;
    ++launches;
    blocks += match.count / 32;
  }
  EXPECT_EQ(profile.launches, launches);
  EXPECT_EQ(profile.child_blocks, blocks);
  EXPECT_GT(launches, 100u);
}

// Places in the mesh are given out in another order, and forces summed in another.
TEST(ChildPrograms, BothFormsFindTheSameWords) {
  for (const char* name : {"regx", "pre", "join"}) {
    std::vector<std::vector<std::uint32_t>> words;
    for (const char* form : {"nested", "flat"}) {
      auto workload = make_workload(name, {{"form", form}});
      WatchedDevice device;
      workload->run(device, 5);
      words.push_back(device.last_download);
    }
    EXPECT_EQ(words[0], words[1]) << name;
  }
}

// --- Checks ---

// The first of the outputs, the last being spoilt by the test of all workloads.
TEST(ChildPrograms, JoinChecksBothSidesOfAPair) {
  auto workload = make_workload("join", {});
  WatchedDevice device;
  device.corruption = Corruption{0, 11, 1};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("left[11]: expected"));
}

TEST(ChildPrograms, AmrChecksWhereEachCellHasItsChildren) {
  for (const auto& [download, what] :
       {std::pair<std::size_t, std::string>{0, "coarse_children["}, {1, "children["}}) {
    auto workload = make_workload("amr", {});
    WatchedDevice device;
    device.corruption = Corruption{download, 3, 64};
    workload->run(device, 1);
    EXPECT_THAT(workload->check(), HasSubstr(what));
  }
}

// --- What is refused ---

struct Bad {
  Case what;
  std::string message;
};
class ChildProgramRefused : public ::testing::TestWithParam<Bad> {};

TEST_P(ChildProgramRefused, WithTheParameterTheLimitAndTheValue) {
  auto workload = make_workload(GetParam().what.name, GetParam().what.parameters);
  EXPECT_THAT(workload->violations(), ::testing::ElementsAre(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, ChildProgramRefused,
    ::testing::Values(
        Bad{{"amr", {{"block", "100"}}}, "block must be a multiple of 32, is 100"},
        Bad{{"bht", {{"block", "96"}, {"child_block", "64"}}},
            "block must be a multiple of child_block = 64"},
        Bad{{"regx", {{"block", "33"}}}, "block must be a multiple of 32, is 33"},
        Bad{{"regx", {{"child_block", "33"}}}, "child_block must be a multiple of 32, is 33"},
        Bad{{"pre", {{"child_block", "65"}}}, "child_block must be a multiple of 32, is 65"},
        Bad{{"pre", {{"users", "4194304"}, {"per_user", "17"}}}, "users * per_user"},
        Bad{{"join", {{"threshold", "31"}}}, "threshold must be at least child_block = 32"},
        Bad{{"join", {{"rows", "1000000"}}}, "rows^2 / keys * 4 must not exceed 2^28"}));

TEST(ChildPrograms, RangesAndNamesAreRefusedBeforeAnythingRuns) {
  EXPECT_THROW(make_workload("amr", {{"form", "both"}}), InputError);
  EXPECT_THROW(make_workload("amr", {{"input", "cold"}}), InputError);
  EXPECT_THROW(make_workload("bht", {{"bodies", "0"}}), InputError);
  EXPECT_THROW(make_workload("join", {{"input", "random"}}), InputError);
  EXPECT_THROW(make_workload("pre", {{"loyal", "1.5"}}), InputError);
  EXPECT_THROW(make_workload("regx", {{"ports_per_rule", "257"}}), InputError);
}

TEST(ChildPrograms, AmrRefusesAMeshThatNeverEnds) {
  auto workload = make_workload("amr", {{"threshold", "1"}, {"levels", "24"}});
  WatchedDevice device;
  try {
    workload->run(device, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("fewer levels or a greater threshold"));
  }
  EXPECT_EQ(device.launches, 0u);
}

}  // namespace
}  // namespace raddle::runtime::nested_programs_test
