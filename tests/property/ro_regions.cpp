// DeNovo with ro_regions, on the whole machine: what only is read outlives a kernel's start, what
// somebody has written in between does not, the host included.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/whole.h"

namespace raddle::ro_regions_test {
namespace {

using test::RunSpec;
using Steps = std::vector<std::string>;

constexpr const char* kOn = "coherence=denovo:ro_regions=true";
constexpr const char* kOff = "coherence=denovo:ro_regions=false";

/// One block that copies 1024 words from a table, launched again and again; between launches the
/// host does what it is told.
class Table final : public runtime::Workload {
 public:
  explicit Table(Steps between) : between_(std::move(between)) {}
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  void run(runtime::Device& device, std::uint64_t) override {
    const auto module = device.load(R"(
      .version 7.0
      .target sm_70
      .address_size 64
      .visible .entry copy(.param .u64 from, .param .u64 to) {
        .reg .b32 %r<3>;
        .reg .b64 %rd<6>;
        ld.param.u64 %rd1, [from];
        ld.param.u64 %rd2, [to];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd1, %rd3;
        add.s64 %rd5, %rd2, %rd3;
        ld.global.u32 %r2, [%rd4];
        st.global.u32 [%rd5], %r2;
        ret;
      })",
                                    "table.ptx");
    const auto copy = device.kernel(module, "copy");
    std::vector<std::uint32_t> values(1024, 7);
    const Address from = device.upload(values), to = device.allocate(64 * 4096),
                  elsewhere = device.allocate(4096);
    const auto launch = [&](Address target) {
      device.launch(copy, {1}, {1024}, runtime::Arguments(from, target));
    };
    launch(to);
    for (const std::string& step : between_) {
      if (step == "write") {
        values[5] += 1;
        device.copy_to_device(from, values.data(), 4096);
      } else if (step == "write_same") device.copy_to_device(from, values.data(), 4096);
      else if (step == "set") device.set(from + 4, 3, 1);
      else if (step == "set_elsewhere") device.set(elsewhere, 3, 4096);
      else if (step == "kernel_writes") launch(from);
      launch(to);
    }
  }
  std::string check() override { return ""; }
  std::uint64_t input_hash() const override { return 0; }

 private:
  Steps between_;
};

/// Line accesses of loads that an L1 has served itself. The table has 64 lines of 64 bytes.
std::uint64_t served_by_l1(const Steps& between, const char* coherence = kOn) {
  Table table(between);
  std::vector<std::string> policies = {"block=reset"};
  if (coherence != nullptr) policies.push_back(coherence);
  const sim::Result r = test::run_on(table, "table", {"ikra", {}, policies});
  return r.totals.sm.served[static_cast<unsigned>(stats::ServedFrom::L1)];
}

TEST(RoRegions, ATableIsReadOnce) {
  EXPECT_EQ(served_by_l1({"nothing"}, kOff), 0u);
  EXPECT_EQ(served_by_l1({}), 0u);
  EXPECT_EQ(served_by_l1({"nothing"}), 64u);
  EXPECT_EQ(served_by_l1({"nothing", "nothing"}), 128u);
}

// The machine's file has it on; a policy that is named starts from its own defaults.
TEST(RoRegions, IsOnOnIkrasMachine) {
  EXPECT_EQ(served_by_l1({"nothing"}, nullptr), 64u);
  EXPECT_EQ(served_by_l1({"nothing"}, "coherence=denovo"), 0u);
}

TEST(RoRegions, WhatTheHostHasChangedIsReadAnew) {
  EXPECT_EQ(served_by_l1({"write"}), 0u);
  EXPECT_EQ(served_by_l1({"write", "nothing"}), 64u);
  EXPECT_EQ(served_by_l1({"set"}), 0u);
  EXPECT_EQ(served_by_l1({"write_same"}), 64u) << "nothing has changed";
  EXPECT_EQ(served_by_l1({"set_elsewhere"}), 64u);
}

TEST(RoRegions, WhatAKernelHasWrittenIsReadAnewByOthersAndHitsInItsOwnL1) {
  // The kernel that writes the table reads it first: 64 hits. Then its SM owns the words.
  EXPECT_EQ(served_by_l1({"kernel_writes"}), 128u);
}

/// kmeans: points stay, the host writes centroids between launches.
TEST(RoRegions, IsTheSameUnderEveryHostChoiceAndReplayed) {
  RunSpec spec{"ikra", {}, {kOn, "block=chunk"}};
  for (const char* workload : {"kmeans", "pagerank", "hotspot"}) {
    const sim::Result first = test::run(workload, spec);
    EXPECT_EQ(first.verdict, sim::Result::Verdict::Correct) << first.difference;
    EXPECT_GT(first.policies["coherence"]["statistics"]["words_kept"].get<std::uint64_t>(), 0u)
        << workload;
    const std::string hash = test::state_hash(first);
    RunSpec other = spec;
    other.options.audit = true;
    other.options.skip = false;
    EXPECT_EQ(hash, test::state_hash(test::run(workload, other))) << workload << ": no skip";
    other.options.skip = true;
    other.options.shuffle = true;
    EXPECT_EQ(hash, test::state_hash(test::run(workload, other))) << workload << ": shuffled";
    other.options.shuffle = false;
    other.options.threads = 2;
    EXPECT_EQ(hash, test::state_hash(test::run(workload, other))) << workload << ": two threads";

    const auto path = std::filesystem::temp_directory_path() /
                      (std::string("raddle_ro_") + workload + std::to_string(getpid()) + ".rdl");
    auto made = runtime::all_workloads().make(workload);
    made->set_size(runtime::Size::Tiny);
    sim::Setup setup = test::make_setup(spec);
    sim::record(*made, {workload, {}}, setup, {}, path.string());
    {
      const trace::FileReader file(path.string());
      std::vector<sim::Setup> setups;
      setups.push_back(test::make_setup(spec));
      EXPECT_EQ(hash, test::state_hash(sim::replay(file, setups, {}).front())) << workload;
    }
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace raddle::ro_regions_test
