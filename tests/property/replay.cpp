// A recorded run, replayed, is the run: the same result to the last bit, for every workload.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/whole.h"

namespace raddle::replay_test {
namespace {

/// At most, of the launches of kernels, whose streams are packed one by one.
constexpr std::uint64_t kBytesOfALaunch = 700;

class Replay : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Replay, testing::ValuesIn(test::workloads_of_all_machines()),
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
  const auto headers = static_cast<double>(kBytesOfALaunch * test::launches_of_kernels(recorded));
  const double each = (static_cast<double>(std::filesystem::file_size(path)) - headers) /
                      static_cast<double>(recorded.totals.sm.issued);
  EXPECT_LT(each, 12) << "bytes per warp instruction; the code and the header count at this size";
  std::filesystem::remove(path);
}

/// bfs makes a launch for each level: the first of them timed as they run, of a recording of all,
/// and of a recording of them alone.
TEST(FirstLaunches, AreTheSameHoweverTheyAreCutOff) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_first_" + std::to_string(getpid()) + ".rdl");
  const auto workload = [] {
    auto out = runtime::all_workloads().make("bfs");
    out->set_size(runtime::Size::Tiny);
    return out;
  };
  std::vector<sim::Setup> setups;
  setups.push_back(test::make_setup({"gtx480", {}, {}, {}}));
  const sim::Options all;
  sim::Options first;
  first.first_launches = 3;
  const auto replayed = [&](const sim::Options& options) {
    const trace::FileReader file(path.string());
    return std::move(sim::replay(file, setups, options).front());
  };
  const sim::Result direct =
      std::move(sim::simulate(*workload(), {"bfs", {}}, setups, first).front());
  ASSERT_EQ(direct.kernels.size(), 3u);
  EXPECT_GT(direct.launches_left_out, 3u);
  EXPECT_EQ(direct.verdict, sim::Result::Verdict::Correct) << "the others are executed";
  sim::record(*workload(), {"bfs", {}}, setups.front(), all, path.string());
  EXPECT_EQ(test::state_hash(replayed(first)), test::state_hash(direct));
  const sim::Result whole = replayed(all);
  EXPECT_EQ(whole.kernels.size(), 3 + direct.launches_left_out);
  EXPECT_EQ(whole.kernels[2].end, direct.kernels[2].end) << "nothing before the cut is changed";
  sim::record(*workload(), {"bfs", {}}, setups.front(), first, path.string());
  EXPECT_EQ(test::state_hash(replayed(all)), test::state_hash(direct));
  std::filesystem::remove(path);
}

/// Every byte is where it should be, but nobody has recorded this.
TEST(ReplayOfOperations, ThatMakeNoSenseIsRefused) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_operations_" + std::to_string(getpid()) + ".rdl");
  const auto error = [&](const char* operations) -> std::string {
    trace::FileWriter file(
        path.string(),
        {{"workload", "none"}, {"parameters", nlohmann::ordered_json::object()}, {"seed", 1}});
    file.finish({{"input_hash", 0},
                 {"verdict", "unchecked"},
                 {"difference", ""},
                 {"operations", nlohmann::ordered_json::parse(operations)}});
    const trace::FileReader reader(path.string());
    std::vector<sim::Setup> setups;
    setups.push_back(test::make_setup({"ikra", {}, {"coherence=denovo:ro_regions=true"}, {}}));
    try {
      sim::replay(reader, setups, {});
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error(R"([["synchronize"],["write",65536,4096],["record",1],["wait",2,0]])"), "");
  for (const char* wrong :
       {R"(["write",0,9223372036854775808])", R"(["write",9223372036854775808,1])",
        R"(["write",0])", R"(["write",-1,1])", R"(["write","a",1])", R"(["wait",0,0])",
        R"(["synchronize",0])", R"(["record",4294967295])", R"(["jump",1])", R"([])", "7"})
    EXPECT_EQ(error(("[" + std::string(wrong) + "]").c_str()),
              "the file holds an operation that makes no sense: " + std::string(wrong));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace raddle::replay_test
