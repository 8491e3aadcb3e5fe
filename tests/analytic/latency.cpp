// Latencies and bandwidths of whole machines against closed forms made from the machine file's own
// numbers. Measured as slopes (a long run minus a short one), so that launch and drain do not
// count.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "raddle/timing/mem/address_map.h"
#include "support/whole.h"

namespace raddle {
namespace {

constexpr std::uint32_t kUnroll = 32;

/// One thread follows a ring of pointers `steps` times; pointers are `stride` bytes apart.
class Chase final : public runtime::Workload {
 public:
  Chase(std::uint64_t elements, std::uint64_t stride, std::uint32_t steps, bool bypass,
        std::uint64_t offset = 0)
      : elements_(elements), stride_(stride), offset_(offset), steps_(steps), bypass_(bypass) {}
  Address ring() const { return ring_; }
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }
  void run(runtime::Device& device, std::uint64_t) override {
    const Address ring = ring_ = device.allocate(offset_ + elements_ * stride_) + offset_;
    for (std::uint64_t i = 0; i < elements_; ++i) {
      const Address next = ring + (i + 1) % elements_ * stride_;
      device.copy_to_device(ring + i * stride_, &next, sizeof next);
    }
    std::string loads;  // unrolled, so that the loop's own instructions hide behind the loads
    for (unsigned i = 0; i < kUnroll; ++i)
      loads += std::string(bypass_ ? "ld.volatile.global.u64" : "ld.global.u64") + " %d1, [%d1];\n";
    const runtime::ModuleId module = device.load(
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry chase(.param .u64 ring, .param .u32 steps)\n{\n"
        ".reg .b32 %r<4>;\n.reg .b64 %d<2>;\n.reg .pred %p<2>;\n"
        "ld.param.u64 %d1, [ring];\nld.param.u32 %r1, [steps];\n"
        "again:\n" +
            loads + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra again;\nret;\n}\n",
        "chase.ptx");
    device.launch(device.kernel(module, "chase"), {1}, {1},
                  runtime::Arguments(ring, steps_ / kUnroll));
  }

 private:
  std::uint64_t elements_, stride_, offset_;
  std::uint32_t steps_;
  bool bypass_;
  Address ring_ = 0;
};

double slope(const std::string& gpu, std::uint64_t elements, std::uint64_t stride, bool bypass,
             std::uint32_t few, std::uint32_t many) {
  Chase first(elements, stride, few, bypass), second(elements, stride, many, bypass);
  const Cycle a = test::run_on(first, "chase", {gpu}).cycles;
  const Cycle b = test::run_on(second, "chase", {gpu}).cycles;
  return static_cast<double>(b - a) / (many - few);
}
/// Cycles per step round a ring of 16 that stays in its cache.
double warm(const std::string& gpu, std::uint64_t stride, bool bypass) {
  return slope(gpu, 16, stride, bypass, 256, 768);
}
/// Cycles per step where every step touches a line for the first time.
double cold(const std::string& gpu, std::uint64_t stride) {
  return slope(gpu, 2048, stride, true, 512, 1536);
}

class EveryMachine : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec spec() const { return test::make_setup({GetParam()}).machine; }
};
std::vector<std::string> machines() {
  std::vector<std::string> out;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) out.emplace_back(gpu.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, EveryMachine, testing::ValuesIn(machines()),
                         [](const auto& i) { return i.param; });

TEST_P(EveryMachine, L1HitTakesTheL1Latency) {
  const auto m = spec();
  const double measured = warm(GetParam(), m.sm.l1d.line_bytes, false),
               expected = m.sm.l1d.hit_latency_cycles;
  // Where 32 hits take less than the loop's own chain (subtract, compare, branch), that shows.
  if (expected > 1) EXPECT_DOUBLE_EQ(measured, expected);
  else EXPECT_LE(measured, expected + 0.5);
  EXPECT_GE(measured, expected);
}

/// Core cycles that a request and its reply spend in the routers and channels of a mesh, at that
/// distance.
double in_mesh(const timing::MachineSpec& m, unsigned hops) {
  if (m.noc.topology == timing::Topology::Crossbar) return 0;
  const auto& mesh = m.noc.mesh;
  const double clock = m.noc.clock_mhz == 0 ? m.core_clock_mhz : m.noc.clock_mhz;
  return 2 * ((hops + 1) * mesh.router_cycles + hops * mesh.channel_cycles) * m.core_clock_mhz /
         clock;
}
unsigned farthest(const timing::MachineSpec& m) { return m.noc.mesh.columns + m.noc.mesh.rows - 2; }

TEST_P(EveryMachine, L2HitTakesThePathThereAndBack) {
  const auto m = spec();
  // Bypassing the L1 leaves: two links each way through a crossbar, the slice's own latency, and
  // what SM, crossbars and slice take to hand a packet on (docs/architecture.md).
  const double path = 4.0 * m.noc.latency_cycles + m.l2.hit_latency_cycles;
  const double measured = warm(GetParam(), m.l2.line_bytes, true);
  EXPECT_GE(measured, path + in_mesh(m, 0));
  EXPECT_LE(measured, path + in_mesh(m, farthest(m)) + 8);
}

TEST(Ikra, L2HitsTake29To61CyclesByDistance) {
  // S in configs.md: 29-61, with 0 to 6 hops each way. SM 0 is in a corner, every node has a bank.
  const auto m = test::make_setup({"ikra"}).machine;
  const timing::AddressMap map(m);
  std::set<unsigned> seen;
  for (std::uint64_t line = 0; line < 64; ++line) {  // a thread loads one line again and again
    Chase few(1, 64, 256, true, line * 64), many(1, 64, 768, true, line * 64);
    const Cycle a = test::run_on(few, "chase", {"ikra"}).cycles;
    const unsigned node = map.slice(static_cast<std::uint32_t>(few.ring() / 64));
    if (!seen.insert(node).second) continue;
    const Cycle b = test::run_on(many, "chase", {"ikra"}).cycles;
    const unsigned hops = node % 4 + node / 4;
    EXPECT_NEAR(static_cast<double>(b - a) / 512, 29 + 32.0 * hops / 6, 1.0) << "node " << node;
  }
  EXPECT_GE(seen.size(), 12u);
}

TEST_P(EveryMachine, DramAddsItsTimingToTheL2Path) {
  const auto m = spec();
  const double ratio = static_cast<double>(m.core_clock_mhz) / m.dram.clock_mhz;
  const bool fixed = m.dram.model == timing::DramModel::Fixed;
  const double l2 = 4.0 * m.noc.latency_cycles + m.l2.hit_latency_cycles +
                    (fixed ? m.dram.fixed_latency_cycles : m.dram.extra_latency_cycles);
  const double burst = static_cast<double>(m.l2.sector_bytes) / m.dram.bus_bytes_per_cycle;
  // Row hit at best; at worst the bank must first close its row, which tRAS may still hold open.
  const double nearest = l2 + in_mesh(m, 0), furthest = l2 + in_mesh(m, farthest(m));
  const double least = fixed ? nearest : nearest + ratio * m.dram.tCL;
  // A refresh stops whom it meets for half its time, of all banks or of one.
  const timing::DramSpec& d = m.dram;
  const double met = d.refresh == timing::Refresh::None ? 0 : 1.0 * (d.tRFC + d.tRP) / d.tREFI;
  const double most =
      (fixed ? furthest : furthest + ratio * (d.tRAS + d.tRP + d.tRCD + d.tCL + burst)) +
      ratio * met * (d.tRFC + d.tRP) / 2 + 16;
  const double measured = cold(GetParam(), 4096 + m.l2.line_bytes);
  EXPECT_GE(measured, least);
  EXPECT_LE(measured, most);
}

/// Every thread of a full machine adds up a private strip of floats with 16-byte loads.
class Stream final : public runtime::Workload {
 public:
  Stream(std::uint32_t blocks, std::uint32_t loads) : blocks_(blocks), loads_(loads) {}
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  std::string check() override { return ""; }
  bool checked() const override { return false; }
  std::uint64_t input_hash() const override { return 0; }
  void run(runtime::Device& device, std::uint64_t) override {
    const std::uint64_t step = std::uint64_t{blocks_} * 256 * 16;
    const Address data = device.allocate(step * loads_), out = device.allocate(4);
    const runtime::ModuleId module = device.load(fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry stream(.param .u64 data, .param .u64 out, .param .u32 loads, .param .u64 step)
{{
.reg .b32 %r<8>;
.reg .b64 %d<8>;
.reg .f32 %f<8>;
.reg .pred %p<2>;
ld.param.u64 %d1, [data]; ld.param.u64 %d2, [out];
ld.param.u32 %r1, [loads]; ld.param.u64 %d3, [step];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r2, 256, %r3;
mul.wide.u32 %d4, %r4, 16;
add.u64 %d1, %d1, %d4;
mov.f32 %f1, 0f00000000;
again:
ld.global.v4.f32 {{%f2, %f3, %f4, %f5}}, [%d1];
add.f32 %f1, %f1, %f2;
add.u64 %d1, %d1, %d3;
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
setp.eq.f32 %p1, %f1, 0f3F800000;
@%p1 st.global.f32 [%d2], %f1;
ret;
}})"),
                                                 "stream.ptx");
    device.launch(device.kernel(module, "stream"), {blocks_}, {256},
                  runtime::Arguments(data, out, loads_, step));
  }

 private:
  std::uint32_t blocks_, loads_;
};

TEST_P(EveryMachine, StreamingReadsComeNearTheBandwidthAndNeverPassIt) {
  const auto m = spec();
  const std::uint32_t resident = m.sm.count * std::min(m.sm.threads / 256, m.sm.blocks);
  Stream stream(2 * resident, 16);
  const sim::Result r = test::run_on(stream, "stream", {GetParam()});
  const double channel_peak =
      m.dram.model == timing::DramModel::Fixed
          ? 1.0 * m.l2.line_bytes / m.dram.fixed_interval_cycles
          : 1.0 * m.dram.bus_bytes_per_cycle * m.dram.clock_mhz / m.core_clock_mhz;
  const double dram_peak = m.dram.channels * channel_peak;
  const double noc_clock = m.noc.clock_mhz == 0 ? m.core_clock_mhz : m.noc.clock_mhz;
  const unsigned ports = (m.sm.count + m.noc.sms_per_port - 1) / m.noc.sms_per_port;
  const double noc_peak = static_cast<double>(std::min(ports, m.l2.slices)) * m.noc.flit_bytes *
                          noc_clock / m.core_clock_mhz;
  const double peak = std::min(dram_peak, noc_peak);
  const double measured = static_cast<double>(r.totals.dram.bytes) / static_cast<double>(r.cycles);
  EXPECT_LE(measured, dram_peak * 1.0001) << "bytes per core cycle";
  EXPECT_GE(measured, 0.5 * peak) << "bytes per core cycle of " << peak;
  // The kernel's parameters fit a line of constants, whichever SM asks first.
  const std::uint64_t parameters =
      r.totals.sm.const_misses != 0 ? std::max(m.sm.const_cache.line_bytes, m.l2.sector_bytes) : 0;
  EXPECT_EQ(r.totals.dram.bytes, 2ull * resident * 256 * 16 * 16 + parameters)
      << "each byte is fetched once";
}

/// Dependent arithmetic: one warp, a chain of n instructions.
double cycles_per_instruction(const std::string& gpu, const std::string& instruction,
                              unsigned warps) {
  auto cycles = [&](unsigned n) {
    std::string body = "mov.u32 %r1, 3;\nmov.f32 %f1, 0f3F800000;\n";
    for (unsigned i = 0; i < n; ++i) body += instruction + "\n";
    test::PtxWorkload workload(
        test::ptx_kernel(body + "st.global.u32 [%d0], %r1;\nst.global.f32 [%d0+4], %f1;\nret;"),
        "k", {1}, {32 * warps}, 2);
    return test::run_on(workload, "chain", {gpu}).cycles;
  };
  return static_cast<double>(cycles(600) - cycles(200)) / 400;
}

TEST_P(EveryMachine, ADependentChainRunsAtTheLatencyOfItsClass) {
  const auto m = spec();
  auto latency = [&](trace::OpClass c) { return m.sm.cost[static_cast<unsigned>(c)].latency; };
  // The stores at the end may fetch their line (l2.write_miss), and DRAM's clock then stands at
  // another phase after the longer chain: a cycle in 400 instructions.
  const double phase = 1.0 / 400 + 1e-9;
  EXPECT_NEAR(cycles_per_instruction(GetParam(), "add.u32 %r1, %r1, 1;", 1),
              latency(trace::OpClass::Int), phase);
  EXPECT_NEAR(cycles_per_instruction(GetParam(), "fma.rn.f32 %f1, %f1, %f1, %f1;", 1),
              latency(trace::OpClass::Fp32), phase);
  EXPECT_NEAR(cycles_per_instruction(GetParam(), "mul.lo.u32 %r1, %r1, %r1;", 1),
              latency(trace::OpClass::IntMul), phase);
  EXPECT_NEAR(cycles_per_instruction(GetParam(), "rsqrt.approx.f32 %f1, %f1;", 1),
              latency(trace::OpClass::Sfu), phase);
}

TEST_P(EveryMachine, ManyWarpsRunAtTheIntervalOfTheUnit) {
  const auto m = spec();
  const unsigned warps = std::min(m.sm.warps, m.sm.max_threads_per_block / 32),
                 per_scheduler = warps / m.sm.schedulers;
  const auto& cost = m.sm.cost[static_cast<unsigned>(trace::OpClass::Fp32)];
  const double expected = std::max<double>(per_scheduler * cost.interval, cost.latency);
  EXPECT_NEAR(cycles_per_instruction(GetParam(), "fma.rn.f32 %f1, %f1, %f1, %f1;", warps), expected,
              0.02 * expected);
}

}  // namespace
}  // namespace raddle
