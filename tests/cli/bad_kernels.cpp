// Kernels that do not fit, do not end, or touch memory that is not theirs.
#include "cli/raddle.h"

namespace raddle::test::bad_kernels_test {
namespace {

constexpr std::chrono::seconds kSoon(60);

/// A file with kernels that each do one wrong thing; line numbers matter below.
const char* const kBadKernels = R"(.version 7.2
.target sm_70
.address_size 64
.visible .entry spin() {
LOOP:
  bra LOOP;
}
.visible .entry stuck() {
  .reg .b32 %r<3>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra FIRST;
  bar.sync 1, 64;
  bra END;
FIRST:
  bar.sync 2, 64;
END:
  ret;
}
.visible .entry store(.param .u64 p, .param .u64 offset) {
  .reg .b32 %r<3>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [offset];
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r1;
  ret;
}
.visible .entry load_nothing() {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  mov.u64 %rd1, 0;
  ld.global.u32 %r1, [%rd1];
  ret;
}
.visible .entry shared_beyond() {
  .shared .align 4 .b8 tile[64];
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, tile;
  add.s32 %r3, %r3, %r2;
  st.shared.u32 [%r3], %r1;
  ret;
}
.visible .entry much_shared() {
  .shared .align 4 .b8 tile[300000];
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
  st.shared.u32 [tile], %r1;
  ret;
}
.visible .entry trapped() {
  trap;
}
.visible .entry quiet() {
  ret;
}
.visible .entry counts() {
  .reg .b32 %r<2>;
  mov.u32 %r1, 0;
ON:
  add.u32 %r1, %r1, 1;
  bra ON;
}
)";

class BadKernel : public testing::Test {
 protected:
  Outcome run(const std::string& words) {
    std::vector<std::string> arguments = {folder.write("bad.ptx", kBadKernels)};
    std::istringstream in(words);
    for (std::string word; in >> word;) arguments.push_back(word);
    return raddle("run", arguments, kSoon);
  }
  Folder folder;
};

// --- refused before anything runs ---------------------------------------------------------------

TEST(Launches, ThatHaveNotBegunInTimeAreOnTheirWay) {
  const Outcome run = raddle("run bfs size=tiny --gpu v100 --max-cycles 5");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("a launch on its way has not ended after the 5 cycles allowed"));
}

TEST(Launches, MayTakeAllTheCyclesThatAreAllowedAndNoMore) {
  for (const std::string run :
       {"run transpose size=tiny --gpu t4", "run nn size=tiny --gpu latoa"}) {
    const std::uint64_t cycles = json_of(raddle(run + " --json -"))["totals"]["cycles"];
    EXPECT_EQ(raddle(run + " --max-cycles " + std::to_string(cycles)).status, 0) << run;
    const Outcome late = raddle(run + " --max-cycles " + std::to_string(cycles - 1));
    EXPECT_EQ(late.status, 1) << run;
    EXPECT_THAT(late.err, HasSubstr(std::to_string(cycles - 1) + " cycles allowed")) << run;
  }
}

TEST_F(BadKernel, TheFileItselfIsSound) {
  const Outcome ok = run("kernel=quiet grid=4 block=96");
  EXPECT_EQ(ok.status, 0) << ok.err;
}

TEST_F(BadKernel, UnknownKernelNamesTheKnown) {
  expect_refused(run("kernel=spinn"), {"spinn", "spin"});
  expect_refused(run(""), {"kernel"});
}

TEST_F(BadKernel, ArgumentsMustMatch) {
  expect_refused(run("kernel=store"), {"store", "2"});
  expect_refused(run("kernel=store args=buf:64,4:u32"), {"store", "4"});
  expect_refused(run("kernel=store args=buf:64,x:u64"), {"x"});
  expect_refused(run("kernel=store args=buf:64,4"), {"4"});
  expect_refused(run("kernel=quiet args=1:u32"), {"quiet"});
}

TEST_F(BadKernel, BlocksOfTooManyThreadsNameTheLimit) {
  expect_refused(run("kernel=quiet block=2048 --gpu v100"), {"2048", "1024"});
  expect_refused(run("kernel=quiet block=1x1x128 --gpu v100"), {"128", "64"});
}

TEST_F(BadKernel, EmptyOrGarbledShapesAreRefused) {
  expect_refused(run("kernel=quiet grid=0"), {"grid"});
  expect_refused(run("kernel=quiet block=0"), {"block"});
  expect_refused(run("kernel=quiet grid=1x2x3x4"), {"grid"});
  expect_refused(run("kernel=quiet grid=-1"), {"-1"});
  expect_refused(run("kernel=quiet grid=1x100000"), {"65535"});
}

TEST_F(BadKernel, TooMuchSharedMemoryNamesTheLimit) {
  expect_refused(run("kernel=quiet shared_bytes=60000 --gpu gtx480"),
                 {"shared", "60032", "49152", "gtx480"});
  expect_refused(run("kernel=much_shared --gpu v100"), {"shared", "300032", "98304", "v100"});
}

// --- stopped while running ----------------------------------------------------------------------

TEST_F(BadKernel, EndlessLoopIsStopped) {
  for (const std::string mode : {"", " --live", " --functional"}) {
    expect_failed(run("kernel=counts grid=2 --max-cycles 20000" + mode), {"counts", "cycles"});
    // Where nothing changes any more nobody needs to say when it is enough.
    expect_failed(run("kernel=spin grid=2" + mode),
                  {"kernel spin does not end", "nothing changes any more", "bad.ptx:6"});
  }
}

TEST_F(BadKernel, EndlessLoopIsShownWithItsLine) {
  expect_failed(run("kernel=spin --max-cycles 20000"), {"spin", "bad.ptx:6"});
}

/// Long before memory is full, and with the place.
TEST_F(BadKernel, EndlessLoopDoesNotFillTheMemory) {
  const Outcome o = run("kernel=counts --max-stream 0.01");
  for (const char* bad : {"nan", "inf", "0", "-1", "1e7", "0.1x"})
    expect_refused(run(std::string("kernel=counts --max-stream ") + bad),
                   {"--max-stream", "from 0.001 to", bad});
  expect_failed(o, {"kernel counts", "beyond 0.01 GiB", "stands at", "bad.ptx:6", "--max-stream"});
  EXPECT_EQ(line_count(o.err), 1u) << o.err;
  // In a recording only blocks that run are in memory: this one does not end.
  const Folder kept;
  expect_failed(raddle("record", {folder / "bad.ptx", "kernel=counts", "--max-stream", "0.01", "-o",
                                  kept / "r.rdl"}),
                {"kernel counts", "stands at"});
  EXPECT_THAT(kept.content(), IsEmpty());
}

TEST_F(BadKernel, NumbersThatAreTooLargeAreToldSo) {
  expect_refused(run("kernel=quiet grid=4294967296"),
                 {"4294967296 is too large; the largest is 4294967295"});
  expect_refused(run("kernel=quiet args=1e-50:f32"), {"1e-50 is too near to 0"});
  expect_refused(run("kernel=quiet args=-1e50:f32"), {"-1e50 is too large"});
  expect_refused(run("kernel=quiet args=-2147483649:s32"),
                 {"-2147483649 is too small; the smallest is -2147483648"});
  expect_refused(run("kernel=quiet args=buf:0"), {"'buf:0': expected a buffer of at least 1 byte"});
}

TEST_F(BadKernel, BarrierThatNeverCompletesIsExplained) {
  for (const std::string mode : {"", " --live", " --functional"})
    expect_failed(run("kernel=stuck block=64" + mode), {"stuck", "barrier", "13", "16"});
}

TEST_F(BadKernel, OutOfBoundsNamesKernelLineThreadAndAddress) {
  for (const std::string mode : {"", " --live", " --functional"})
    expect_failed(run("kernel=store grid=1 block=32 args=buf:64,0:u64" + mode),
                  {"store", "bad.ptx:28", "thread", "16", "0x"});
  expect_failed(run("kernel=load_nothing"), {"load_nothing", "bad.ptx:34", "0x0"});
}

TEST_F(BadKernel, MisalignedAccessIsExplained) {
  expect_failed(run("kernel=store block=4 args=buf:64,1:u64"), {"store", "bad.ptx:28", "align"});
}

TEST_F(BadKernel, SharedMemoryIsBoundedToo) {
  expect_failed(run("kernel=shared_beyond block=32"), {"shared_beyond", "bad.ptx:44", "shared"});
}

TEST_F(BadKernel, TrapStopsTheRun) {
  expect_failed(run("kernel=trapped"), {"trapped", "bad.ptx:55", "trap"});
}

TEST_F(BadKernel, MaxCyclesAlsoStopsWorkWithoutFault) {
  const Outcome stopped = raddle("run sgemm size=tiny --max-cycles 100");
  expect_failed(stopped, {"more than the 400 that --max-cycles lets a warp execute"});
  EXPECT_EQ(stopped.out, "");
}

TEST_F(BadKernel, DeviceMemoryIsFinite) {
  expect_failed(run("kernel=store args=buf:99999999999999,0:u64"), {"memory", "99999999999999"});
}

TEST_F(BadKernel, FailedRunsWriteNothing) {
  const Folder out;
  const Outcome failed = raddle("run", {folder.write("bad.ptx", kBadKernels), "kernel=load_nothing",
                                        "--json", out / "r.json", "--report", out / "r.html"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(out.content(), IsEmpty());
}

TEST_F(BadKernel, BesideAHealthyTenantSaysWhatItSaysAlone) {
  const auto beside = [&](const std::string& kernel) {
    return run("kernel=" + kernel +
               " grid=2 block=64 + vecadd size=tiny --gpu ccbp --horizon 20000");
  };
  for (const auto& [kernel, word] : {std::pair{"trapped", "bad.ptx:55 'trap;'"},
                                     std::pair{"stuck", "cannot go on, every warp waits"},
                                     std::pair{"load_nothing", "out-of-bounds"}}) {
    const Outcome out = beside(kernel);
    EXPECT_EQ(out.status, 1) << kernel;
    EXPECT_THAT(out.err, AllOf(HasSubstr(kernel), HasSubstr(word)));
    EXPECT_EQ(out.out, "");
  }
  expect_refused(beside("much_shared"), {"much_shared", "300000", "232448"});
}

}  // namespace
}  // namespace raddle::test::bad_kernels_test
