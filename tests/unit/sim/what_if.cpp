// The table of parts, and what may be asked of them.
#include "raddle/sim/setup/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/config/describer.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "support/errors.h"

namespace raddle::sim::what_if_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> paths() {
  Setup setup(policy::all_policies());
  config::Describer describer;
  setup.machine.visit(describer);
  std::vector<std::string> out;
  for (const config::FieldDescription& field : describer.fields()) out.push_back(field.path);
  return out;
}

TEST(MachineParts, AreSettings) {
  const std::vector<std::string> known = paths();
  const auto is_setting = [&](std::string_view path) {
    return path.empty() || std::ranges::find(known, path) != known.end();
  };
  for (const MachinePart& part : machine_parts()) {
    EXPECT_FALSE(part.path.empty());
    for (const std::string_view path : {part.path, part.along, part.ideal})
      EXPECT_TRUE(is_setting(path)) << part.name << " " << path;
  }
}

/// `analyze bounds` goes through these.
TEST(MachineParts, HaveAllThatCanBeIdeal) {
  const auto setup = read_setup(load_gpu("v100"), policy::all_policies());
  const std::vector<std::string> ideal = timing::ideal_parts(setup.machine, false);
  for (const std::string& part : ideal) {
    ASSERT_NE(find_part(part), nullptr) << part;
    EXPECT_EQ(find_part(part)->ideal, "ideal." + part);
  }
  const auto all = machine_parts();
  EXPECT_EQ(std::ranges::count_if(all, [](const MachinePart& p) { return !p.ideal.empty(); }),
            static_cast<std::ptrdiff_t>(ideal.size()));
}

std::vector<std::string> settings(const std::string& text, const std::string& gpu) {
  std::vector<std::string> out;
  for (const WhatIf& one : read_what_ifs({text}))
    for (const GivenSetting& setting : settings_of(one, load_gpu(gpu)))
      out.push_back(setting.path + "=" + setting.value);
  return out;
}

TEST(WhatIfs, AreSettingsOfTheMachine) {
  EXPECT_THAT(settings("l2=x2,dram=ideal,sm.lsu_queue=4", "ccws"),
              ElementsAre("l2.size_kib=x2", "ideal.dram=true", "sm.lsu_queue=4"));
  EXPECT_THAT(settings("l2=x2+mshr=x2", "ccws"),
              ElementsAre("l2.size_kib=x2", "sm.l1d.mshr_entries=x2"));
  EXPECT_THAT(settings("l1d=x2", "ccws"), ElementsAre("sm.l1d.size_kib=x2"));
  EXPECT_THAT(settings("l1d=x2", "v100"),
              ElementsAre("sm.l1d.unified_kib=x2", "sm.l1d.size_kib=x2"));
  EXPECT_THAT(settings("l1d=x2", "a100"), ElementsAre("sm.l1d.unified_kib=x2"));
  EXPECT_THAT(settings("l1d=64", "v100"), ElementsAre("sm.l1d.size_kib=64"));
}

TEST(WhatIfs, ThatAreNoneAreRefusedByName) {
  const auto error = [](const std::string& text) {
    return test::input_error_of([&] { settings(text, "ccws"); });
  };
  EXPECT_THAT(error("l3=x2"), AllOf(HasSubstr("--what-if l3=x2"), HasSubstr("found 'l3'"),
                                    HasSubstr("did you mean 'l2'")));
  EXPECT_THAT(error("l2"), HasSubstr("expected NAME=xFACTOR, NAME=ideal or NAME=VALUE"));
  EXPECT_THAT(error("l2=x2,"), HasSubstr("expected NAME=xFACTOR"));
  EXPECT_THAT(error("sms=ideal"), HasSubstr("'sms': expected one of l1d, mshr, noc, l2, dram"));
  EXPECT_THAT(error("l2=x2,l2=x2"), HasSubstr("is there twice"));
  EXPECT_THAT(error("l2=x2+l2=ideal"), HasSubstr("changes 'l2' twice"));
  EXPECT_THAT(error("l2=x2+l2.size_kib=x3"), HasSubstr("changes 'l2.size_kib' twice"));
  EXPECT_THAT(error("policy.throttle.limit=2"), HasSubstr("--sweep compares its values"));
  EXPECT_THAT(error("run.seed=2"), HasSubstr("how it is run"));
}

}  // namespace
}  // namespace raddle::sim::what_if_test
