// The mesh over time: what is recorded adds up to what components count, is the same whatever the
// host does, and changes nothing.
#include "raddle/timing/gpu/mesh_record.h"

#include <gtest/gtest.h>

#include "support/gpu_harness.h"
#include "support/no_fields.h"
#include "support/random_kernel.h"
#include "support/settings.h"

namespace raddle::gpu_mesh_record_test {
namespace {

using namespace raddle::support;
using policy::MigratePolicy;
using timing::GpuOptions;
using timing::MeshCounts;
using timing::MeshRecord;
using timing::MeshRecorder;

/// Six SMs in the first two rows of 3 x 3 nodes, slices in the corners of the last.
timing::MachineSpec mesh_machine() {
  timing::MachineSpec m = busy_machine();
  m.sm.count = 6;
  m.noc.topology = timing::Topology::Mesh;
  m.noc.mesh.columns = m.noc.mesh.rows = 3;
  m.noc.mesh.sm_nodes = "0-5";
  m.noc.mesh.slice_nodes = "6,8";
  m.l2.slices = 2;
  m.dram.channels = 2;
  return m;
}

std::unique_ptr<policy::Choice<MigratePolicy>> choose(std::string_view name) {
  test::Settings settings;
  if (name == "random") settings = {{"interval", "40"}};
  if (name == "latoa")
    settings = {{"entry", "1"},
                {"slots_percent", "100"},
                {"converged", "false"},
                {"relaxed", "6"},
                {"critical", "7"}};
  return test::choose(policy::all_policies().migrate, std::string(name), settings);
}

class Values final : public test::NoFields {
 public:
  using NoFields::field;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    of[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> of;
};

GpuOptions sampled(Cycle interval = 64) {
  GpuOptions options;
  options.sample_interval = interval;
  return options;
}

/// Two launches of a random kernel.
struct TwoLaunches {
  explicit TwoLaunches(std::string_view migrate, const GpuOptions& options = sampled(),
                       std::uint64_t seed = 3)
      : gpu(mesh_machine(), options, choose(migrate)) {
    for (std::uint64_t launch = 0; launch < 2; ++launch)
      gpu.run(*random_kernel(seed + 1000 * launch));
    gpu->visit_policy_statistics("migrate", statistics);
  }
  GpuHarness gpu;
  Values statistics;
};

std::uint64_t sum(const std::vector<std::uint64_t>& numbers) {
  std::uint64_t total = 0;
  for (const std::uint64_t n : numbers) total += n;
  return total;
}

std::uint64_t warps(const MeshCounts& counts) {
  std::uint64_t total = 0;
  for (const timing::WarpMoves& m : counts.moves) total += m.warps;
  return total;
}

class MeshRecordOf : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Migrate, MeshRecordOf, ::testing::Values("none", "latoa", "random"));

TEST_P(MeshRecordOf, AddsUpToWhatComponentsCount) {
  TwoLaunches run(GetParam());
  const MeshRecord& record = *run.gpu->mesh();
  ASSERT_GT(record.counts.size(), 10u);
  const MeshCounts& all = record.counts.back();
  EXPECT_EQ(all.at, run.gpu->now());
  const stats::GpuCounters counters = run.gpu->counters();
  EXPECT_GT(counters.request.flit_hops, 0u);
  EXPECT_EQ(sum(all.requests), counters.request.flit_hops);
  EXPECT_EQ(sum(all.replies), counters.reply.flit_hops);
  EXPECT_EQ(all.requests.size(), record.places.links.size());
  MeshCounts::Sm sms;
  for (const MeshCounts::Sm& sm : all.sms) {
    sms.issued += sm.issued;
    sms.memory += sm.memory;
    sms.idle += sm.idle;
  }
  const auto& stall = counters.scheduler.stall;
  EXPECT_EQ(sms.issued, counters.sm.issued);
  EXPECT_EQ(sms.memory, stall[unsigned(stats::Stall::Memory)] + stall[unsigned(stats::Stall::Lsu)]);
  EXPECT_EQ(sms.idle, stall[unsigned(stats::Stall::Idle)] + stall[unsigned(stats::Stall::Launch)])
      << "SMs know of no launches";
  EXPECT_EQ(warps(all), run.statistics.of["warps"]);
  EXPECT_EQ(warps(all) > 0, std::string_view(GetParam()) != "none");
}

TEST_P(MeshRecordOf, EveryIntervalIsWhole) {
  TwoLaunches run(GetParam());
  const std::vector<MeshCounts>& all = run.gpu->mesh()->counts;
  EXPECT_GE(all[0].at, 64u);
  MeshCounts before;
  for (const MeshCounts& counts : all) {
    const Cycle length = counts.at - before.at;
    EXPECT_TRUE(length == all[0].at || counts.at == run.gpu->now()) << counts.at;
    for (std::size_t i = 0; i < counts.requests.size(); ++i)  // a link carries a flit a cycle
      EXPECT_LE(counts.requests[i] - (before.requests.empty() ? 0 : before.requests[i]), length);
    for (std::size_t sm = 0; sm < counts.sms.size(); ++sm) {
      const MeshCounts::Sm was = before.sms.empty() ? MeshCounts::Sm{} : before.sms[sm];
      const MeshCounts::Sm& is = counts.sms[sm];
      EXPECT_LE(is.issued - was.issued + is.memory - was.memory + is.idle - was.idle,
                length * mesh_machine().sm.schedulers);
    }
    for (const policy::StateCycles& sm : counts.states)
      EXPECT_EQ(sm[0] + sm[1] + sm[2], counts.at) << "in one state at a time";
    before = counts;
  }
}

TEST(MeshRecord, HasTheStatesOfAPolicyThatKnowsThem) {
  TwoLaunches run("latoa");
  const MeshCounts& all = run.gpu->mesh()->counts.back();
  ASSERT_EQ(all.states.size(), 6u);
  policy::StateCycles sum{};
  for (const policy::StateCycles& sm : all.states)
    for (unsigned s = 0; s < 3; ++s) sum[s] += sm[s];
  EXPECT_GT(sum[2], 0u);
  EXPECT_EQ(sum[0], run.statistics.of["relaxed_cycles"]);
  EXPECT_EQ(sum[1], run.statistics.of["neutral_cycles"]);
  EXPECT_EQ(sum[2], run.statistics.of["critical_cycles"]);
  EXPECT_TRUE(TwoLaunches("random").gpu->mesh()->counts.back().states.empty());
}

/// All that is in it, as text.
std::string text(const MeshRecord& record) {
  std::string out;
  const auto add = [&](std::uint64_t n) { out += std::to_string(n) + ' '; };
  for (const MeshCounts& c : record.counts) {
    add(c.at);
    for (const std::uint64_t n : c.requests) add(n);
    for (const std::uint64_t n : c.replies) add(n);
    for (const MeshCounts::Sm& sm : c.sms) {
      add(sm.issued);
      add(sm.memory);
      add(sm.idle);
    }
    for (const policy::StateCycles& sm : c.states)
      for (const Cycle n : sm) add(n);
    for (const timing::WarpMoves& m : c.moves) {
      add(m.from);
      add(m.to);
      add(m.warps);
    }
  }
  return out;
}

TEST_P(MeshRecordOf, IsTheSameWhateverTheHostDoes) {
  for (std::uint64_t seed = 1; seed < 3; ++seed) {
    const std::string usual = text(*TwoLaunches(GetParam(), sampled(), seed).gpu->mesh());
    GpuOptions options = sampled();
    options.skip = false;
    EXPECT_TRUE(text(*TwoLaunches(GetParam(), options, seed).gpu->mesh()) == usual) << "no skip";
    options = sampled();
    options.shuffle = true;
    EXPECT_TRUE(text(*TwoLaunches(GetParam(), options, seed).gpu->mesh()) == usual) << "shuffled";
    options = sampled();
    options.threads = 2;
    EXPECT_TRUE(text(*TwoLaunches(GetParam(), options, seed).gpu->mesh()) == usual)
        << "two threads";
  }
}

TEST_P(MeshRecordOf, ChangesNothing) {
  TwoLaunches watched(GetParam()), alone(GetParam(), {});
  EXPECT_EQ(watched.gpu->hash(), alone.gpu->hash());
  EXPECT_EQ(watched.statistics.of, alone.statistics.of);
  EXPECT_EQ(alone.gpu->mesh(), nullptr);
}

TEST(MeshRecord, IsOfMeshesOnly) {
  GpuHarness gpu(busy_machine(), sampled());
  gpu.run(*random_kernel(1));
  EXPECT_EQ(gpu->mesh(), nullptr);
}

TEST(MeshRecord, SaysWhatIsWhere) {
  timing::MachineSpec m = mesh_machine();
  GpuHarness at_slices(m, sampled());
  const timing::MeshPlaces& places = at_slices->mesh()->places;
  EXPECT_EQ(places.sms, (std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(places.slices, (std::vector<std::uint16_t>{6, 8}));
  EXPECT_EQ(places.controllers, (std::vector<std::uint16_t>{6, 8}));
  m.noc.mesh.memory_nodes = "7,0";
  GpuHarness apart(m, sampled());
  EXPECT_EQ(apart->mesh()->places.controllers, (std::vector<std::uint16_t>{7, 0}));
}

// --- which cycles are kept -----------------------------------------------------------------------

MeshCounts counts_at(Cycle at) {
  MeshCounts out;
  out.at = at;
  return out;
}

std::vector<Cycle> cycles(const MeshRecorder& recorder) {
  std::vector<Cycle> out;
  for (const MeshCounts& c : recorder.record().counts) out.push_back(c.at);
  return out;
}

TEST(MeshRecorder, KeepsTheEndsOfIntervalsAndOfTheRun) {
  MeshRecorder recorder({}, 10, 4);  // whole windows: 12
  recorder.advance(11, counts_at);
  EXPECT_EQ(cycles(recorder), std::vector<Cycle>{});
  recorder.update(counts_at(11));
  recorder.update(counts_at(11));
  EXPECT_EQ(cycles(recorder), (std::vector<Cycle>{11}));
  recorder.advance(37, counts_at);
  EXPECT_EQ(cycles(recorder), (std::vector<Cycle>{12, 24, 36}));
  recorder.update(counts_at(36));
  EXPECT_EQ(cycles(recorder), (std::vector<Cycle>{12, 24, 36})) << "nothing has gone by";
  recorder.update(counts_at(40));
  EXPECT_EQ(cycles(recorder), (std::vector<Cycle>{12, 24, 36, 40}));
  recorder.advance(48, counts_at);
  EXPECT_EQ(cycles(recorder), (std::vector<Cycle>{12, 24, 36, 48}));
}

TEST(MeshRecorder, DoublesTheIntervalWhenThereAreTooMany) {
  MeshRecorder recorder({}, 10, 1);
  const Cycle half = 10 * MeshRecorder::kMaxCounts;
  recorder.advance(half, counts_at);
  std::vector<Cycle> expected;
  for (Cycle at = 20; at <= half; at += 20) expected.push_back(at);
  EXPECT_EQ(cycles(recorder), expected);
  recorder.advance(half + 45, counts_at);
  recorder.update(counts_at(half + 45));
  for (const Cycle at : {half + 20, half + 40, half + 45}) expected.push_back(at);
  EXPECT_EQ(cycles(recorder), expected);
  recorder.advance(100 * half, counts_at);
  EXPECT_LT(recorder.record().counts.size(), MeshRecorder::kMaxCounts);
  EXPECT_EQ(cycles(recorder).back(), 100 * half / 1280 * 1280);
}

}  // namespace
}  // namespace raddle::gpu_mesh_record_test
