// A kernel of Hopper's asynchronous instructions, its op stream written as a trace of Accel-Sim 2.0
// (.tracez) and read again: the same instructions for the timing model, and the same cycles.
#include <gtest/gtest.h>

#include <sstream>

#include "raddle/accelsim/recording.h"
#include "support/hopper_writer.h"
#include "support/process.h"
#include "support/tracez_writer.h"
#include "support/whole.h"

namespace raddle::imported_hopper_test {
namespace {

/// Warps 0 to 3 multiply what warp 4 brings, tiles of 8 KiB in two stages; then warp 4 stores some.
const std::string kKernel = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 buffer)
{
.reg .b32 %r<32>; .reg .b64 %d<16>; .reg .pred %p<8>; .reg .f32 %f<64>;
.shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2];
ld.param.u64 %d0, [buffer];
mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, full; mov.u32 %r3, empty;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra READY;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r2+8], 1;
mbarrier.init.shared.b64 [%r3], 4; mbarrier.init.shared.b64 [%r3+8], 4;
READY:
bar.sync 0;
mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r10, 8192;
setp.ge.u32 %p1, %r0, 128;
@%p1 bra PRODUCER;
shr.u32 %r7, %r1, 4; cvt.u64.u32 %d1, %r7; add.u64 %d1, %d1, 0x4000000800400000;
and.b32 %r8, %r0, 31; setp.ne.u32 %p2, %r8, 0;
CONSUME:
add.u32 %r9, %r2, %r5;
FULL:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r6;
@!%p3 bra FULL;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
  {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %d1, %d1, 1, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
  {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %d1, %d1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
  {%f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}, %d1, %d1, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 1;
wgmma.wait_group.sync.aligned 0;
add.u32 %r9, %r3, %r5;
@%p2 bra NEXT;
mbarrier.arrive.shared.b64 _, [%r9];
NEXT:
xor.b32 %r5, %r5, 8; add.u32 %r4, %r4, 1; shr.u32 %r6, %r4, 1; and.b32 %r6, %r6, 1;
setp.lt.u32 %p4, %r4, 6;
@%p4 bra CONSUME;
bar.sync 0;
ret;
PRODUCER:
setp.ne.u32 %p5, %r0, 128;
@%p5 bra STORED;
mov.u32 %r6, 1;
PRODUCE:
add.u32 %r9, %r3, %r5; add.u32 %r11, %r2, %r5; mul.lo.u32 %r12, %r5, 1024;
add.u32 %r12, %r12, %r1;
EMPTY:
mbarrier.try_wait.parity.shared.b64 %p3, [%r9], %r6;
@!%p3 bra EMPTY;
mbarrier.arrive.expect_tx.shared.b64 _, [%r11], %r10;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r12], [%d0], 8192, [%r11];
add.u64 %d0, %d0, 8192;
xor.b32 %r5, %r5, 8; add.u32 %r4, %r4, 1; shr.u32 %r6, %r4, 1; xor.b32 %r6, %r6, 1;
and.b32 %r6, %r6, 1;
setp.lt.u32 %p4, %r4, 6;
@%p4 bra PRODUCE;
cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 4096;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
STORED:
bar.sync 0;
ret;
}
)";

/// Descriptors of matrices are in uniform registers in machine code, which no collector reads.
sim::Result replayed(const trace::Recording& recording) {
  std::vector<sim::Setup> setups;
  setups.push_back(
      test::make_setup({"h100", {"isa.lowering=ptx", "sm.operands.collectors=0"}, {}, {}}));
  sim::Options options;
  options.audit = true;
  return std::move(sim::replay(recording, setups, options).front());
}

class ImportedHopper : public testing::Test {
 protected:
  ImportedHopper() {
    sim::Setup setup = test::make_setup({"h100", {}, {}, {}});
    test::PtxWorkload workload(kKernel, "k", {3, 1, 1}, {160, 1, 1}, 8192 * 7 / 4);
    const std::string path = (folder.path() / "w.rdl").string();
    sim::record(workload, {"k", {}}, setup, {}, path);
    original = std::make_unique<trace::FileReader>(path);
    const auto stream = original->open(0);
    text = test::HopperWriter(original->launch(0), *stream).text();
    std::ofstream(folder.path() / "kernel-1.tracez", std::ios::binary)
        << test::tracez_of(text, {text.substr(0, 2000), 16});
    std::ofstream(folder.path() / "kernelslist.g") << "kernel-1.tracez\n";
    imported =
        std::make_unique<accelsim::TraceRecording>((folder.path() / "kernelslist.g").string());
  }
  sim::Result replayed_text(const std::string& of) const {
    std::ofstream(folder.path() / "kernel-1.tracez", std::ios::binary) << test::tracez_of(of);
    return replayed(accelsim::TraceRecording((folder.path() / "kernelslist.g").string()));
  }
  const test::Folder folder;
  std::unique_ptr<trace::FileReader> original;
  std::unique_ptr<accelsim::TraceRecording> imported;
  std::string text;
};

TEST_F(ImportedHopper, TakesTheCyclesOfItsPtx) {
  const sim::Result a = replayed(*original), b = replayed(*imported);
  ASSERT_EQ(b.kernels.size(), 1u);
  EXPECT_EQ(a.kernels[0].counters.dram.bytes, b.kernels[0].counters.dram.bytes);
  EXPECT_EQ(a.cycles, b.cycles);
  for (const char* what : {"unknown_opcodes", "without_addresses", "without_effect"})
    EXPECT_TRUE(b.import.at(what).empty()) << what;
  EXPECT_EQ(b.import.at("unended_waits"), 0);
}

TEST_F(ImportedHopper, PagesOfAnySizeAreTheSameRun) {
  const sim::Result whole = replayed(*imported);
  EXPECT_EQ(whole.cycles, replayed_text(text).cycles) << "one page for each warp, no dictionary";
}

// What these instructions were before they had an effect: control instructions.
TEST_F(ImportedHopper, WithoutTheirEffectItWouldBeFalselyFast) {
  std::istringstream lines(text);
  std::string bare;
  for (std::string line; std::getline(lines, line); bare += line + "\n")
    for (const char* word : {" HGMMA.", " UBLKCP.", " SYNCS.", " WARPGROUP.DEPBAR"})
      if (line.find(word) != std::string::npos) {
        std::istringstream fields(line);
        std::string number, pc, mask;
        fields >> number >> pc >> mask;
        line = number + " " + pc + " " + mask + " 0 NOP 0 0 0 0 NoVal";
      }
  const auto duration = [](const sim::Result& result) {
    return result.kernels.at(0).end - result.kernels.at(0).begin;
  };
  EXPECT_LT(2 * duration(replayed_text(bare)), duration(replayed(*imported)));
}

}  // namespace
}  // namespace raddle::imported_hopper_test
