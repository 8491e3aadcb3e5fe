// raddle run --check: what is told, and what is refused.
#include "cli/raddle.h"

namespace raddle::test::checks_test {
namespace {

constexpr const char* kKernels = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry racing(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s; add.u32 %r2, %r2, %r3;
  st.shared.u32 [%r2], %r1;
  ld.shared.u32 %r1, [s+128];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

class Checks : public testing::Test {
 protected:
  Outcome run(const std::string& words) const {
    return raddle("run " + file_ + " kernel=racing grid=2 block=64 args=buf:256 --gpu gtx480 " +
                  words);
  }
  Folder folder_;
  const std::string file_ = folder_.write("k.ptx", kKernels);
};

TEST_F(Checks, ARaceIsToldAndFailsTheRun) {
  const Outcome plain = run(""), checked = run("--check races");
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.err, HasSubstr("--check found 1 race (places in kernels)"));
  EXPECT_THAT(
      checked.out,
      AllOf(HasSubstr("races: kernel racing: block (0,0,0) thread (32,0,0) writes byte 128"),
            HasSubstr("k.ptx:8 'st.shared.u32"), HasSubstr("(2 times)")));
}

TEST_F(Checks, WhatWasFoundBeforeAFaultIsTold) {
  const std::string end = "  st.global.u32 [%rd1], %r1;\n";
  std::string text = kKernels;  // the second warp faults, when it has met what the first left
  text.replace(text.find(end), end.size(),
               "  .reg .pred %p1; mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 32;\n"
               "  @%p1 st.global.u32 [%rd1+1048576], %r1;\n");
  const std::string file = folder_.write("fault.ptx", text);
  const Outcome o = raddle(
      "run " + file + " kernel=racing grid=1 block=64 args=buf:256 --gpu gtx480 --check races");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, AllOf(HasSubstr("out-of-bounds"), HasSubstr("found before that:"),
                           HasSubstr("races: kernel racing")));
}

TEST_F(Checks, ChangeNothingOfTheResult) {
  const auto hash = [&](const std::string& words) {
    return json_of(
               raddle("run sgemm size=tiny --gpu gtx480 --quiet --json - " + words))["state_hash"]
        .get<std::string>();
  };
  EXPECT_EQ(hash(""), hash("--check races,uninitialised"));
}

TEST_F(Checks, NothingFoundIsSaid) {
  const Outcome o = raddle("run sgemm size=tiny --functional --check races,uninitialised");
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_THAT(o.out, HasSubstr("checks: nothing found"));
}

// The histogram whose lanes mark whose turn it is does so by volatile stores, which do not race.
TEST_F(Checks, OurWorkloadsHaveNoRacesAndLoadWhatWasWritten) {
  const Json workloads = json_of(raddle("list workloads --json"));
  EXPECT_GT(workloads.size(), 50u);
  for (const Json& workload : workloads) {
    const auto name = workload["name"].get<std::string>();
    const std::string gpu = workload.contains("min_capability") ? "h200" : "v100";
    const Outcome o = raddle("run " + name + " size=tiny --gpu " + gpu +
                             " --functional --check races,uninitialised");
    EXPECT_EQ(o.status, 0) << o.out << o.err;
  }
}

TEST_F(Checks, WhatCannotBeCheckedIsRefused) {
  expect_refused(run("--check raves"), {"--check", "raves", "races,uninitialised"});
  expect_refused(run("--check races --live"), {"--check", "--live"});
  expect_refused(run("--check races --set run.live=true"), {"--check", "--live"});
  expect_refused(raddle("run vecadd size=tiny + vecadd size=tiny --gpu ccbp --horizon 20000 "
                        "--check races"),
                 {"--check", "--horizon"});
}

}  // namespace
}  // namespace raddle::test::checks_test
