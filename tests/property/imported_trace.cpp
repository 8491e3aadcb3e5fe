// An Accel-Sim trace written of one of our own workloads, imported, is that workload: the same
// counts, and where its instructions have machine instructions of the same class, the same cycles.
#include <gtest/gtest.h>

#include "raddle/accelsim/recording.h"
#include "support/accelsim_writer.h"
#include "support/process.h"
#include "support/whole.h"

namespace raddle::imported_trace_test {
namespace {

class ImportedTrace : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Some, ImportedTrace,
                         testing::Values("vecadd", "reduction", "bfs", "histogram", "transpose"),
                         [](const auto& i) { return i.param; });

sim::Result replayed(const trace::Recording& recording) {
  std::vector<sim::Setup> setups;
  setups.push_back(test::make_setup({"v100", {"isa.lowering=ptx"}, {}, {}}));
  sim::Options options;
  options.audit = true;
  return std::move(sim::replay(recording, setups, options).front());
}

TEST_P(ImportedTrace, IsTheWorkload) {
  const test::Folder folder;
  const std::string path = (folder.path() / "w.rdl").string();
  sim::Setup setup = test::make_setup({"v100", {}, {}, {}});
  auto workload = runtime::all_workloads().make(GetParam());
  workload->set_size(runtime::Size::Tiny);
  sim::record(*workload, {GetParam(), {}}, setup, {}, path);
  const trace::FileReader original(path);
  const test::AccelsimWriter written(original, folder.path());
  const accelsim::TraceRecording imported(written.list());

  const sim::Result a = replayed(original), b = replayed(imported);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    const sim::KernelResult &x = a.kernels[i], &y = b.kernels[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.grid, y.grid);
    EXPECT_EQ(x.block, y.block);
    EXPECT_EQ(x.warp_instructions, y.warp_instructions) << x.name;
    EXPECT_EQ(x.thread_instructions, y.thread_instructions) << x.name;
    EXPECT_EQ(x.counters.sm.l1d_accesses, y.counters.sm.l1d_accesses) << x.name;
    EXPECT_EQ(x.counters.sm.l1d_hits, y.counters.sm.l1d_hits) << x.name;
    EXPECT_EQ(x.counters.dram.bytes, y.counters.dram.bytes) << x.name;
  }
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_TRUE(b.import.at("unknown_opcodes").empty());
  EXPECT_EQ(b.verdict, sim::Result::Verdict::Unchecked);
}

}  // namespace
}  // namespace raddle::imported_trace_test
