// What liveness says of the workloads' kernels against what their threads do: a register that a
// thread reads before it writes it lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "functional/stream_reader.h"
#include "functional/workload_support.h"
#include "raddle/lowering/liveness.h"
#include "raddle/lowering/lowering.h"

namespace raddle::runtime::live_registers_test {

namespace {

constexpr std::uint32_t kMaxRegisters = 255;  // of a thread

/// Follows warps back from their ends. Where all threads that go on execute an instruction
/// together, what they read later must live.
class LivenessSink final : public StreamReader {
 public:
  struct Executed {
    std::uint32_t inst;
    LaneMask mask;
  };
  std::uint64_t checked = 0, tight = 0, live = 0, all = 0;

  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord&) override {
    const trace::KernelCode& code = stream->code();
    const std::vector<std::uint32_t> known = lowering::live_in_ptx(code);
    if (known.empty()) return;
    const bool takes = std::ranges::any_of(code.opcode_names, [](const std::string& name) {
      return name.starts_with("setmaxnreg.inc");
    });
    bound_ = takes ? kMaxRegisters : code.registers_per_thread;
    for (const std::uint32_t count : known) EXPECT_LE(count, bound_);
    std::vector<Executed> warp;
    read(
        *stream,
        [&](trace::Record one, const trace::StaticInst& inst, std::span<const std::uint32_t>) {
          const LaneMask mask = inst.kind == trace::OpKind::Barrier ? kFullMask : one.mask;
          for (unsigned k = 0; k < one.count(); ++k) warp.push_back({one.inst() + k, mask});
        },
        [&] {
          follow(code, known, warp);
          warp.clear();
        });
  }

  void submit_tree(const std::vector<LaunchedStream>& tree) override {
    for (const LaunchedStream& one : tree) submit(one.stream, one.record);
  }

 private:
  std::uint32_t bound_ = 0;  // registers that a thread may have
  void follow(const trace::KernelCode& code, const std::vector<std::uint32_t>& known,
              const std::vector<Executed>& warp) {
    std::map<std::uint32_t, LaneMask> wanted;  // by register: lanes that read it next
    LaneMask later = 0;
    for (std::size_t i = warp.size(); i-- > 0;) {
      const trace::StaticInst& in = code.instructions[warp[i].inst];
      const LaneMask mask = warp[i].mask;
      using K = trace::Operand::Kind;
      for (const trace::Operand& o : in.operands)
        if (o.reg != trace::kNoRegister && o.kind == K::Write) wanted[o.reg] &= ~mask;
      for (const trace::Operand& o : in.operands)
        if (o.reg != trace::kNoRegister && o.kind != K::Write) wanted[o.reg] |= mask;
      later |= mask;
      if (mask != later) continue;
      std::uint32_t count = 0;
      for (const auto& [reg, lanes] : wanted)
        if (lanes != 0 && code.register_bytes[reg] != 0)
          count += std::max(code.register_bytes[reg] / 4, 1);
      const std::uint32_t says = known[warp[i].inst];
      ASSERT_LE(count, says) << code.name << ", line " << in.line;
      ++checked;
      tight += count == says;
      live += says;
      all += bound_;
    }
  }
};

class LiveRegisters : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, LiveRegisters, ::testing::ValuesIn(all_workloads().names()),
                         [](const auto& i) { return i.param; });

TEST_P(LiveRegisters, HoldWhatIsReadLater) {
  auto made = make_workload(GetParam(), {});
  LivenessSink sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(options);
  made->run(device, 1);
  EXPECT_GT(sink.checked, 0u);
  EXPECT_GT(sink.tight, 0u) << "no more than what is read, somewhere";
  EXPECT_LT(sink.live, sink.all);
}

// The same instructions as another machine's: never more registers than it counts.
TEST_P(LiveRegisters, AreNoMoreThanAMachineCounts) {
  class Codes final : public StreamReader {
   public:
    void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord&) override {
      for (const auto generation : {lowering::Generation::Fermi, lowering::Generation::Hopper}) {
        const trace::LoweredCode l =
            lowering::lower(stream->code(), {lowering::Level::Machine, generation}, true);
        ASSERT_EQ(l.live.size(), l.live.empty() ? 0 : l.code.instructions.size());
        for (const std::uint32_t live : l.live) {
          EXPECT_GE(live, 1u);
          EXPECT_LE(live, l.code.registers_per_thread);
          maximum = std::max(maximum, live);
        }
      }
    }
    void submit_tree(const std::vector<LaunchedStream>& tree) override {
      for (const LaunchedStream& one : tree) submit(one.stream, one.record);
    }
    std::uint32_t maximum = 0;
  } codes;
  auto made = make_workload(GetParam(), {});
  SimulatedDeviceOptions options;
  options.sink = &codes;
  SimulatedDevice device(options);
  made->run(device, 1);
  EXPECT_GT(codes.maximum, 1u);
}

}  // namespace

}  // namespace raddle::runtime::live_registers_test
