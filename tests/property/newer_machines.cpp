// Workloads whose instructions not every machine has: they are refused by name where these lack,
// and what is asked of all others (sameness.cpp, replay.cpp) holds where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/whole.h"

namespace raddle::newer_machines_test {
namespace {

using test::RunSpec;
using ::testing::HasSubstr;

struct Newer {
  std::string workload;
  std::uint32_t capability;
};

std::vector<Newer> newer_workloads() {
  const runtime::Workloads all = runtime::all_workloads();
  std::vector<Newer> out;
  for (const std::string& name : all.names())
    if (const auto needed = all.make(name)->min_capability(); needed != 0)
      out.push_back({name, needed});
  return out;
}

class NewerWorkload : public testing::TestWithParam<Newer> {
 protected:
  std::vector<std::string> machines() const {
    return GetParam().capability <= 80 ? std::vector<std::string>{"a100", "h100"}
                                       : std::vector<std::string>{"h100"};
  }
  std::string older() const { return GetParam().capability <= 80 ? "t4" : "a100"; }
};
INSTANTIATE_TEST_SUITE_P(Tiny, NewerWorkload, testing::ValuesIn(newer_workloads()),
                         [](const auto& i) { return i.param.workload; });

TEST_P(NewerWorkload, IsCorrectAndTheSameUnderEveryHostChoice) {
  for (const std::string& gpu : machines()) {
    RunSpec spec{gpu};
    const sim::Result first = test::run(GetParam().workload, spec);
    EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
    const std::string hash = test::state_hash(first);
    spec.options.audit = true;
    test::run(GetParam().workload, spec);  // throws when a count does not add up
    spec.options.audit = false;
    spec.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam().workload, spec))) << gpu << ": no skip";
    spec.options.skip = true;
    spec.options.shuffle = true;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam().workload, spec))) << gpu << ": shuffled";
    spec.options.shuffle = false;
    spec.options.threads = 2;
    EXPECT_EQ(hash, test::state_hash(test::run(GetParam().workload, spec))) << gpu << ": threads";
  }
}

TEST_P(NewerWorkload, LiveExecutionIsCorrectToo) {
  const sim::Result live = test::run(GetParam().workload, {machines().back(), {"run.live=true"}});
  EXPECT_EQ(live.verdict, sim::Result::Verdict::Correct) << live.difference;
}

TEST_P(NewerWorkload, ReplayedItIsTheRun) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_newer_" + GetParam().workload + std::to_string(getpid()) + ".rdl");
  const RunSpec on{machines().back()};
  sim::Setup setup = test::make_setup(on);
  auto workload = runtime::all_workloads().make(GetParam().workload);
  workload->set_size(runtime::Size::Tiny);
  sim::record(*workload, {GetParam().workload, {}}, setup, {}, path.string());
  {
    const trace::FileReader file(path.string());
    std::vector<sim::Setup> setups;
    setups.push_back(test::make_setup(on));
    const sim::Result replayed = std::move(sim::replay(file, setups, {}).front());
    EXPECT_EQ(test::state_hash(replayed), test::state_hash(test::run(GetParam().workload, on)));
  }
  std::filesystem::remove(path);
}

TEST_P(NewerWorkload, IsRefusedByNameOnAnOlderMachine) {
  const auto message = [](auto run) {
    try {
      run();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const std::string found = older() == "t4" ? "found t4 with 7.5" : "found a100 with 8.0";
  const std::string needed = GetParam().capability == 80 ? "8.0" : "9.0";
  const std::string name = GetParam().workload;
  EXPECT_THAT(message([&] { test::run(name, {older()}); }),
              AllOf(HasSubstr(name + " has instructions of compute capability " + needed),
                    HasSubstr(found)));
  RunSpec functional{older()};
  functional.options.functional = true;
  EXPECT_THAT(message([&] { test::run(name, functional); }), HasSubstr(found));
  const auto path = std::filesystem::temp_directory_path() / ("raddle_refused_" + name + ".rdl");
  EXPECT_THAT(message([&] {
                sim::Setup setup = test::make_setup({older()});
                auto workload = runtime::all_workloads().make(name);
                workload->set_size(runtime::Size::Tiny);
                sim::record(*workload, {name, {}}, setup, {}, path.string());
              }),
              HasSubstr(found));
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is written";
}

}  // namespace
}  // namespace raddle::newer_machines_test
