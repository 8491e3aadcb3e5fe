// Which results outlive a change of the sources: those that have not used what was changed.
#include "raddle/lab/plan/program.h"

#include "raddle/lab/store/store.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::program_test {
namespace {

sim::SourceHashes sources(const std::string& core, const std::string& gto, const std::string& lrr) {
  return {core,
          {{"warp/gto", gto}, {"warp/lrr", lrr}, {"workload/vecadd", "v"}, {"throttle/none", "n"}}};
}

Plan plan_of(const Experiment& e, const sim::SourceHashes& made_of) {
  Catalogue all = catalogue();
  all.sources = made_of;
  return make_plan({&e}, all);
}

class Sources : public testing::Test {
 protected:
  const Experiment e =
      experiment(kHead + "[[runs]]\nworkloads = ['vecadd']\nvariants = ['lrr', 'gto']\n" + kShape);
  /// Which of the two runs, lrr's and gto's, are found of another program's.
  std::vector<bool> found(const sim::SourceHashes& after) const {
    const Folder folder;
    Store store(folder / "r.sqlite");
    const Plan before = plan_of(e, sources("core", "g", "l"));
    for (const PlannedRun& run : before.runs) {
      RunRecord record;
      record.run = &run;
      record.done = true;
      record.host = "here";
      record.finished = "now";
      record.result = {{"totals", {{"cycles", 7}}}};
      store.add(record);
    }
    std::vector<bool> out;
    for (const PlannedRun& run : plan_of(e, after).runs) out.push_back(store.find(run).has_value());
    return out;
  }
};

TEST_F(Sources, APolicyThatChangesTakesItsRunsAlone) {
  EXPECT_EQ(found(sources("core", "g", "l")), (std::vector{true, true}));
  EXPECT_EQ(found(sources("core", "g", "other")), (std::vector{false, true}));
  EXPECT_EQ(found(sources("core", "other", "l")), (std::vector{true, false}));
}

TEST_F(Sources, ANewPolicyTakesNone) {
  sim::SourceHashes more = sources("core", "g", "l");
  more.parts["warp/mine"] = "m";
  EXPECT_EQ(found(more), (std::vector{true, true}));
}

TEST_F(Sources, TheCoreAWorkloadAndADefaultPolicyTakeAllThatHaveThem) {
  EXPECT_EQ(found(sources("other", "g", "l")), (std::vector{false, false}));
  sim::SourceHashes workload = sources("core", "g", "l");
  workload.parts["workload/vecadd"] = "other";
  EXPECT_EQ(found(workload), (std::vector{false, false}));
  sim::SourceHashes throttle = sources("core", "g", "l");
  throttle.parts["throttle/none"] = "other";
  EXPECT_EQ(found(throttle), (std::vector{false, false}));
}

TEST_F(Sources, RecordingsOutliveAllPolicies) {
  const auto recording = [&](const sim::SourceHashes& made_of) {
    return plan_of(e, made_of).runs[0].recordings.at(0);
  };
  const std::string before = recording(sources("core", "g", "l"));
  EXPECT_EQ(recording(sources("core", "x", "y")), before);
  EXPECT_NE(recording(sources("other", "g", "l")), before);
}

TEST(SourceHashes, EveryPolicyAndWorkloadHasOne) {
  const sim::SourceHashes hashes = sim::source_hashes();
  EXPECT_EQ(hashes.core.size(), 16u);
  const policy::Registries policies = policy::all_policies();
  policy::each_level(
      [&](const policy::Level& level, const auto& registry) {
        for (const std::string& name : registry.names())
          EXPECT_TRUE(hashes.parts.contains(std::string(level.name) + "/" + name)) << name;
      },
      policies);
  for (const std::string& name : runtime::all_workloads().names())
    EXPECT_TRUE(hashes.parts.contains("workload/" + name)) << name;
}

}  // namespace
}  // namespace raddle::lab::test::program_test
