// Ours against published measurements of real GPUs. The bounds only keep the table from drifting
// unnoticed; they are not claims of accuracy.
#include <gtest/gtest.h>

#include <cmath>

#include "analytic/page.h"
#include "analytic/probes.h"
#include "functional/workload_support.h"

namespace raddle::verification::silicon_test {
namespace {

const test::RunSpec kV100{"v100", {}, {}, {}};

std::string error(double measured, double ours) {
  return fmt::format("{:+.1f} %", 100 * (ours / measured - 1));
}
void compare(const char* quantity, double measured, double ours, const char* why,
             const char* table = "silicon") {
  row(table, {quantity, number(measured), number(ours), error(measured, ours), why});
}

std::vector<std::uint64_t> ring(std::uint64_t stride, std::uint64_t n) {
  std::vector<std::uint64_t> path;
  for (std::uint64_t i = 0; i < n; ++i) path.push_back(i * stride);
  return path;
}
/// Thread instructions per cycle and SM of 1024 threads that all do the same.
double throughput(const std::string& instruction) {
  return 1024 / cycles_per(kV100,
                           "mov.u32 %r1, 3;\nmov.f32 %f1, 0f3F800000;\ncvt.f64.f32 %d2, %f1;",
                           instruction, 1024);
}

TEST(Silicon, V100Units) {
  const std::string before = "mov.u32 %r1, 3;\nmov.f32 %f1, 0f3F800000;\n";
  const auto latency = [&](const char* instruction) {
    return cycles_per(kV100, before, instruction, 32);
  };
  compare("fp32 latency, cycles", 4.12, latency("fma.rn.f32 %f1, %f1, %f1, %f1;"),
          "taken from there, whole cycles");
  compare("int32 latency, cycles", 4.31, latency("add.u32 %r1, %r1, 1;"),
          "taken from there, whole cycles");
  compare("sfu latency, cycles", 21.11, latency("rsqrt.approx.f32 %f1, %f1;"),
          "taken from there, whole cycles");
  compare("fp32 flop per cycle and SM", 126.86, 2 * throughput("fma.rn.f32 %f1, %f1, %f1, %f1;"),
          "lanes from the white paper; the loop of the benchmark costs it 1 %");
  compare("sfu operations per cycle and SM", 15.98, throughput("rsqrt.approx.f32 %f1, %f1;"), "");
}

TEST(Silicon, V100Memory) {
  const timing::MachineSpec m = spec_of("v100");
  compare("L1 hit latency, cycles (V100)", 36, chase(kV100, ring(128, 16), 32, false, 6),
          "taken from there");
  compare("L2 hit latency, cycles (V100)", 221, chase(kV100, ring(128, 16), 32, true, 6),
          "taken from there");
  compare("DRAM latency, cycles (V100)", 460, chase(kV100, ring(4096 + 128, 48), 16, true),
          "calibrated on a closed row; here rows are met as they come");
  const auto share = [&](std::uint32_t transactions, std::uint32_t rounds, std::uint32_t few,
                         double peak) {
    const std::uint32_t blocks = resident_blocks(m);
    const auto cycles = [&](std::uint32_t p, std::uint32_t r) {
      Stream stream(Access::Read, blocks, p, r, true);
      return static_cast<double>(test::run_on(stream, "stream", kV100).cycles);
    };
    const bool deep = rounds == 1;
    const double bytes = (deep ? transactions - few : rounds - few) * 4096.0 * blocks;
    return bytes / (cycles(transactions, rounds) - (deep ? cycles(few, 1) : cycles(1, few))) / peak;
  };
  const double l2_peak = 32.0 * m.l2.slices, dram_peak = static_cast<double>(m.dram.channels) *
                                                         m.dram.bus_bytes_per_cycle *
                                                         m.dram.clock_mhz / m.core_clock_mhz;
  compare("L2 read bandwidth, % of 32 B per slice and cycle", 88.9, 100 * share(1, 6, 2, l2_peak),
          "head-of-line blocking in the input-queued crossbar; silicon has more paths");
  compare("DRAM read bandwidth, % of peak", 68.3, 100 * share(12, 1, 4, dram_peak),
          "losses by TLB and row policy are not modelled; silicon's figure is of one kernel");
}

/// Cycles of an empty kernel.
double empty(std::uint32_t blocks, unsigned threads) {
  test::PtxWorkload workload(test::ptx_kernel("ret;"), "k", {blocks}, {threads}, 1);
  return static_cast<double>(test::run_on(workload, "empty", {"h100", {}, {}, {}}).cycles);
}

/// Cycles of a workload on the H100.
double h100(const char* workload, const runtime::Parameters& parameters) {
  const auto made = runtime::make_workload(workload, parameters);
  return static_cast<double>(test::run_on(*made, workload, {"h100", {}, {}, {}}).cycles);
}

TEST(Silicon, H100) {
  const double few = empty(1024, 64), many = empty(8192, 64);
  const char* dispatch = "`launch_latency_cycles` and the dispatcher's rate";
  compare("empty, cycles per further block of 64 threads", (12500.0 - 5040) / 7168,
          (many - few) / 7168, dispatch, "h100");
  compare("empty, 1024 blocks of 64 threads, cycles", 5040, few, dispatch, "h100");
  compare("vectoradd, n = 65536, cycles", 3987, h100("vecadd", {{"n", "65536"}}),
          "the launch latency is most of it", "h100");
  compare("vectoradd, n = 1048576, cycles", 9903, h100("vecadd", {{"n", "1048576"}}),
          "launch latency; the arrays fit the L2, which is cold in ours", "h100");
  compare("transpose, 1024 x 1024, cycles", 9229,
          h100("transpose", {{"rows", "1024"}, {"columns", "1024"}}),
          "launch latency; another kernel than MGPUSim's", "h100");
}

}  // namespace
}  // namespace raddle::verification::silicon_test
