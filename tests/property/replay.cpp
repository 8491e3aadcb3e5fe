// A recorded run, replayed, is the run: the same result to the last bit, for every workload.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/whole.h"

namespace raddle {
namespace {

class Replay : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Replay, testing::ValuesIn(runtime::all_workloads().names()),
                         [](const auto& i) { return i.param; });

TEST_P(Replay, EqualsTheDirectRun) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_replay_" + GetParam() + std::to_string(getpid()) + ".rdl");
  const test::RunSpec on{"v100", {}, {}, {}};
  sim::Setup setup = test::make_setup(on);
  auto workload = runtime::all_workloads().make(GetParam());
  workload->set_size(runtime::Size::Tiny);
  const sim::Result recorded = sim::record(*workload, {GetParam(), {}}, setup, {}, path.string());
  {
    const trace::FileReader file(path.string());
    std::vector<sim::Setup> setups;
    setups.push_back(test::make_setup(on));
    const sim::Result replayed = std::move(sim::replay(file, setups, {}).front());
    EXPECT_EQ(test::state_hash(replayed), test::state_hash(test::run(GetParam(), on)));
    EXPECT_EQ(replayed.verdict, sim::Result::Verdict::Correct);
  }
  const double each = static_cast<double>(std::filesystem::file_size(path)) /
                      static_cast<double>(recorded.totals.sm.issued);
  EXPECT_LT(each, 12) << "bytes per warp instruction; the code and the header count at this size";
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace raddle
