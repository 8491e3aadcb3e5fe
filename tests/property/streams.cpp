// Programs with several streams, whole: what overlaps, whose counts are whose, and the same again
// from a file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "support/no_fields.h"
#include "support/whole.h"

namespace raddle::streams_test {
namespace {

using test::RunSpec;

/// The streams workload with its parameters as given.
std::unique_ptr<runtime::Workload> streams_workload(std::uint32_t kernels, std::uint32_t streams) {
  class Setter final : public test::NoFields {
   public:
    Setter(std::uint32_t kernels, std::uint32_t streams) : kernels_(kernels), streams_(streams) {}
    void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t>, std::string_view,
               std::string_view) override {
      if (name == "kernels") value = kernels_;
      if (name == "streams") value = streams_;
    }

   private:
    std::uint32_t kernels_, streams_;
  };
  auto workload = runtime::all_workloads().make("streams");
  workload->set_size(runtime::Size::Tiny);
  Setter setter(kernels, streams);
  workload->visit(setter);
  return workload;
}

sim::Result run_streams(std::uint32_t kernels, std::uint32_t streams, const RunSpec& spec) {
  return test::run_on(*streams_workload(kernels, streams), "streams", spec);
}

TEST(Streams, SmallKernelsOverlapWhereTheMachineLetsThem) {
  const RunSpec v100{"v100", {}, {}, {}};
  const sim::Result one = run_streams(12, 1, v100), four = run_streams(12, 4, v100);
  EXPECT_EQ(four.verdict, sim::Result::Verdict::Correct) << four.difference;
  EXPECT_LT(2 * four.cycles, one.cycles) << "12 launches one after another, or 3 rounds of 4";
  const sim::Result single = run_streams(12, 4, {"v100", {"kernels.entries=1"}, {}, {}});
  EXPECT_GT(single.cycles, four.cycles);
}

TEST(Streams, OverlapInLiveModeToo) {
  RunSpec live{"v100", {"run.live=true"}, {}, {}};
  live.options.audit = true;
  const sim::Result r = run_streams(12, 4, live);
  EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct) << r.difference;
  EXPECT_LT(2 * r.cycles, run_streams(12, 1, live).cycles);
  live.options.skip = false;
  EXPECT_EQ(test::state_hash(run_streams(12, 4, live)), test::state_hash(r));
}

TEST(Streams, CountsOfKernelsAndStreamsAddUp) {
  for (const char* policy : {"kernel=fcfs", "kernel=rr"}) {
    RunSpec spec{"gtx480", {"kernels.queues=32"}, {policy}, {}};
    spec.options.audit = true;
    const sim::Result r = run_streams(40, 5, spec);
    stats::SmCounters kernels, streams;
    std::uint64_t l2 = 0, dram = 0, noc = 0;
    for (const sim::KernelResult& k : r.kernels) {
      stats::accumulate(kernels, k.counters.sm);
      l2 += k.counters.l2.reads + k.counters.l2.writes + k.counters.l2.atomics;
      dram += k.counters.dram.bytes;
      noc += k.counters.request.bytes + k.counters.reply.bytes;
    }
    const auto of_streams = sim::streams_of(r.kernels);
    ASSERT_EQ(of_streams.size(), 5u);
    for (const sim::StreamResult& s : of_streams) {
      stats::accumulate(streams, s.counters.sm);
      EXPECT_LE(s.cycles, s.end - s.start);
      EXPECT_EQ(s.launches, s.stream == 1 ? 9u : 8u);
    }
    EXPECT_EQ(kernels.issued, r.totals.sm.issued);
    EXPECT_EQ(kernels.l1d_misses, r.totals.sm.l1d_misses);
    EXPECT_EQ(streams.issued, r.totals.sm.issued);
    EXPECT_EQ(l2, r.totals.l2.reads + r.totals.l2.writes + r.totals.l2.atomics);
    EXPECT_EQ(dram, r.totals.dram.bytes);
    EXPECT_EQ(noc, r.totals.request.bytes + r.totals.reply.bytes);
  }
}

TEST(Streams, AReplayKeepsTheOrderOfStreamsAndEvents) {
  const std::string file = testing::TempDir() + "streams." + std::to_string(getpid()) + ".rdl";
  const RunSpec spec{"v100", {}, {}, {}};
  sim::Setup setup = test::make_setup(spec);
  auto workload = streams_workload(12, 4);
  sim::record(*workload, {"streams", {}}, setup, {}, file);
  std::vector<sim::Setup> setups;
  setups.push_back(test::make_setup(spec));
  const trace::FileReader reader(file);
  const auto replayed = sim::replay(reader, setups, {});
  EXPECT_EQ(test::state_hash(replayed.front()), test::state_hash(run_streams(12, 4, spec)));
  std::remove(file.c_str());
}

/// Two kernels of different length in two streams, timed by events around each.
class Stopwatch final : public runtime::Workload {
 public:
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  void run(runtime::Device& device, std::uint64_t) override {
    const auto kernel = device.kernel(
        device.load(test::ptx_kernel("add.u64 %d1, %d0, 16;\nld.global.u32 %r1, [%d0];\n"
                                     "L: sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                                     "@%p1 bra L;\nret;"),
                    "loop.ptx"),
        "k");
    const Address few = device.upload(std::vector<std::uint32_t>(8, 10)),
                  many = device.upload(std::vector<std::uint32_t>(8, 1000));
    const StreamId a = device.create_stream(), b = device.create_stream();
    runtime::EventId event[4];
    for (auto& e : event) e = device.create_event();
    device.record(event[0], a);
    device.record(event[2], b);
    device.launch(kernel, {1}, {32}, runtime::Arguments(few), 0, a);
    device.launch(kernel, {1}, {32}, runtime::Arguments(many), 0, b);
    device.record(event[1], a);
    device.record(event[3], b);
    short_ms = device.elapsed_ms(event[0], event[1]);
    long_ms = device.elapsed_ms(event[2], event[3]);
    back_ms = device.elapsed_ms(event[3], event[2]);
    device.synchronize(b);
  }
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }
  double short_ms = 0, long_ms = 0, back_ms = 0;
};

TEST(Streams, EventsTellTheTimeOfTheirStream) {
  Stopwatch work;
  const sim::Result r = test::run_on(work, "stopwatch", {"gtx480", {"kernels.queues=2"}, {}, {}});
  const double cycles_per_ms = r.core_clock_mhz * 1e3;
  EXPECT_DOUBLE_EQ(work.short_ms * cycles_per_ms,
                   static_cast<double>(r.kernels[0].end - r.kernels[0].start));
  EXPECT_DOUBLE_EQ(work.long_ms * cycles_per_ms,
                   static_cast<double>(r.kernels[1].end - r.kernels[1].start));
  EXPECT_DOUBLE_EQ(work.back_ms, -work.long_ms);
  EXPECT_GT(work.long_ms, 5 * work.short_ms);
  EXPECT_LT(r.kernels[1].start, r.kernels[0].end);
}

}  // namespace
}  // namespace raddle::streams_test
