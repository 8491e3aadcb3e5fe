// The rules hold for every source, and would notice if they did not.
#include "house/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace raddle::house::rules_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Findings over_all(const std::vector<std::string>& folders, Findings (*rule)(const SourceFile&)) {
  Findings out;
  for (const std::string& folder : folders)
    for (const SourceFile& file : sources(folder))
      for (std::string& finding : rule(file)) out.push_back(std::move(finding));
  return out;
}

std::string joined(const Findings& findings) {
  std::string out;
  for (const std::string& finding : findings) out += finding + "\n";
  return out;
}

TEST(House, ThereAreSources) {
  EXPECT_GT(sources("src/raddle").size(), 50u);
  EXPECT_GT(sources("workloads").size(), 10u);
}

TEST(House, IncludesGoDownwardOnly) {
  EXPECT_EQ(joined(over_all({"src/raddle", "workloads"}, forbidden_includes)), "");
}

TEST(House, FoldersOfRoomsSeeOnlyLowerOnes) {
  EXPECT_EQ(joined(over_all({"src/raddle"}, forbidden_layers)), "");
}

TEST(House, ComponentsOfTimingTakeTheirPartOfTheMachine) {
  EXPECT_EQ(joined(over_all({"src/raddle"}, whole_machine)), "");
}

TEST(House, NothingBelowReportAndCliPrints) {
  EXPECT_EQ(joined(over_all({"src/raddle", "workloads"}, forbidden_output)), "");
}

TEST(House, SourcesAreTidy) {
  EXPECT_EQ(joined(over_all({"src/raddle", "workloads", "tests", "bench", "python"}, untidiness)),
            "");
}

// --- the rules themselves -----------------------------------------------------------------------

TEST(HouseRules, ForbiddenIncludeIsFoundWithFileAndLine) {
  const SourceFile file{"src/raddle/policy/warp/bad.cpp",
                        "#include <vector>\n\n#include \"raddle/timing/gpu/gpu.h\"\n"};
  EXPECT_THAT(
      forbidden_includes(file),
      ElementsAre(
          "src/raddle/policy/warp/bad.cpp:3: policy must not include raddle/timing/gpu/gpu.h"));
}

TEST(HouseRules, TheHardNoesAreForbidden) {
  const std::string exec = "#include \"raddle/exec/run/machine.h\"\n",
                    ptx = "#include \"raddle/ptx/module.h\"\n",
                    sim = "#include \"raddle/sim/result/result.h\"\n";
  EXPECT_EQ(forbidden_includes({"src/raddle/timing/sm/a.h", exec + ptx}).size(), 2u);
  EXPECT_EQ(forbidden_includes({"src/raddle/runtime/a.h", sim}).size(), 1u);
  EXPECT_EQ(forbidden_includes({"src/raddle/base/a.h", ptx}).size(), 1u);
  EXPECT_EQ(forbidden_includes({"workloads/vecadd/vecadd.cpp", sim}).size(), 1u);
}

TEST(HouseRules, ArrowsMayBeFollowedFurther) {
  EXPECT_THAT(forbidden_includes({"src/raddle/sim/a.cpp", "#include \"raddle/ptx/module.h\"\n"}),
              IsEmpty());
  EXPECT_THAT(
      forbidden_includes({"src/raddle/cli/a.cpp", "  #  include \"raddle/base/types.h\"\n"}),
      IsEmpty());
}

TEST(HouseRules, LayersOfRooms) {
  const std::string message = "#include \"raddle/timing/wire/message.h\"\n",
                    gpu =
                        "#include \"raddle/base/types.h\"\n#include \"raddle/timing/gpu/gpu.h\"\n",
                    dram = "#include \"raddle/timing/dram/channel.h\"\n";
  EXPECT_THAT(forbidden_layers({"src/raddle/timing/cache/a.h", message}), IsEmpty());
  EXPECT_THAT(forbidden_layers({"src/raddle/timing/wire/a.h", message}), IsEmpty());
  EXPECT_THAT(
      forbidden_layers({"src/raddle/timing/sm/a.h", gpu}),
      ElementsAre(
          "src/raddle/timing/sm/a.h:2: timing/sm must not include raddle/timing/gpu/gpu.h"));
  EXPECT_EQ(forbidden_layers({"src/raddle/timing/noc/a.h", dram}).size(), 1u) << "one layer";
  EXPECT_THAT(forbidden_layers({"src/raddle/timing/mem/a.h", dram}), IsEmpty());
  EXPECT_THAT(forbidden_layers({"src/raddle/analysis/a.h", gpu}), IsEmpty());
}

TEST(HouseRules, FilesOfARoomWithLayersAreInOne) {
  EXPECT_EQ(forbidden_layers({"src/raddle/timing/a.h", ""}).size(), 1u);
  EXPECT_EQ(forbidden_layers({"src/raddle/timing/attic/a.h", ""}).size(), 1u);
  EXPECT_EQ(forbidden_layers({"src/raddle/timing/sm/a.h", "#include \"raddle/timing/attic/b.h\"\n"})
                .size(),
            1u);
}

TEST(HouseRules, TheWholeMachineIsForSpecAndGpu) {
  const std::string text =
      "#include \"raddle/timing/spec/machine.h\"\n// MachineSpec\nvoid f(const MachineSpec& m);\n";
  EXPECT_THAT(whole_machine({"src/raddle/timing/noc/a.h", text}),
              ElementsAre(StartsWith("src/raddle/timing/noc/a.h:3: MachineSpec"),
                          StartsWith("src/raddle/timing/noc/a.h:1: the whole machine")));
  for (const char* folder : {"wire", "code", "cache", "dram", "mem", "sm"})
    EXPECT_EQ(whole_machine({"src/raddle/timing/" + std::string(folder) + "/a.h", text}).size(), 2u)
        << folder;
  for (const char* path :
       {"src/raddle/timing/gpu/a.h", "src/raddle/timing/spec/a.h", "src/raddle/sim/a.h"})
    EXPECT_THAT(whole_machine({path, text}), IsEmpty()) << path;
}

TEST(HouseRules, CommentsAndLiteralsAreNotIncludes) {
  const std::string text =
      "// #include \"raddle/timing/a.h\"\n/*\n#include \"raddle/timing/a.h\"\n*/\n"
      "const char* s = \"\\\"\"; const char* r = R\"x(\n#include \"raddle/timing/a.h\"\n)x\";\n";
  EXPECT_THAT(forbidden_includes({"src/raddle/policy/a.cpp", text}), IsEmpty());
}

TEST(HouseRules, UnknownRoomAndRelativeIncludeAreFound) {
  EXPECT_EQ(forbidden_includes({"src/raddle/attic/a.cpp", ""}).size(), 1u);
  EXPECT_EQ(forbidden_includes({"src/raddle/base/a.cpp", "#include \"../timing/a.h\"\n"}).size(),
            1u);
}

TEST(HouseRules, PrintingIsFoundButNotInCommentsOrInCli) {
  const std::string text = "int a;  // printf\nvoid f() { std::printf(\"%d\", a); }\n";
  EXPECT_THAT(forbidden_output({"src/raddle/exec/a.cpp", text}),
              ElementsAre(StartsWith("src/raddle/exec/a.cpp:2: printf")));
  EXPECT_THAT(forbidden_output({"src/raddle/cli/a.cpp", text}), IsEmpty());
  EXPECT_THAT(forbidden_output({"src/raddle/exec/a.cpp", "snprintf(b, n, \"x\"); a.puts(1);\n"}),
              IsEmpty());
}

TEST(HouseRules, PrefetchingGoesThroughBase) {
  const std::string text = "void near(int* p) {\n  __builtin_prefetch(p);\n}\n";
  EXPECT_THAT(untidiness({"src/raddle/timing/a.cpp", text}),
              ElementsAre(StartsWith("src/raddle/timing/a.cpp:2: ")));
  EXPECT_THAT(untidiness({"src/raddle/base/prefetch.h", "#pragma once\n" + text}), IsEmpty());
}

TEST(HouseRules, StableSortsGoThroughBase) {
  for (const std::string space : {"std", "std::ranges"}) {
    const std::string text = "void f(V& v) {\n  " + space +
                             "::stable_"
                             "sort(v.begin(), v.end());\n}\n";
    EXPECT_THAT(untidiness({"tests/unit/a.cpp", text}),
                ElementsAre(StartsWith("tests/unit/a.cpp:2: ")));
  }
}

TEST(HouseRules, DigitSeparatorsDoNotOpenLiterals) {
  const std::string text = "const int n = 1'000'000;\nvoid f() { puts(\"\"); }\n";
  EXPECT_EQ(forbidden_output({"src/raddle/exec/a.cpp", text}).size(), 1u);
}

TEST(HouseRules, CommentsOfDashesAreFoundAndTitledRulesAreNot) {
  const std::string dashes = "// -----\n";
  EXPECT_THAT(untidiness({"src/raddle/base/a.cpp", "// --- launches\n" + dashes + "int f();\n"}),
              ElementsAre(StartsWith("src/raddle/base/a.cpp:2: a comment of dashes")));
  EXPECT_EQ(untidiness({"src/raddle/base/a.cpp", "  " + dashes}).size(), 1u);
  EXPECT_THAT(untidiness({"src/raddle/base/a.cpp", "// --- launches ---\n//\nint a = -1;  //\n"}),
              IsEmpty());
}

TEST(HouseRules, UntidyFilesAreFound) {
  EXPECT_EQ(untidiness({"src/raddle/base/a.h", "int f();\n"}).size(), 1u);
  EXPECT_EQ(untidiness({"src/raddle/base/a.h", "#pragma once\nusing namespace std;\n"}).size(), 1u);
  EXPECT_EQ(untidiness({"src/raddle/base/a.cpp", std::string("// TO") + "DO later\n"}).size(), 1u);
}

}  // namespace
}  // namespace raddle::house::rules_test
