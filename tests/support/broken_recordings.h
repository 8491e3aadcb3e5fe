// What a reader of recordings may do with any file: read and time it, or refuse it in one line.
#pragma once
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/runtime/ptx_file.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/sim/run/recording_checks.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/setup/gpus.h"

namespace raddle::test {

/// A small machine that has everything.
inline std::vector<sim::Setup> small_machine() {
  config::Tree tree = sim::load_gpu("gtx480");
  for (const char* setting : {"sm.count=2", "sm.tma.interval_cycles=2", "sm.tma.lines_in_flight=8",
                              "sm.tma.descriptors=2", "sm.cluster.latency_cycles=100",
                              "sm.warpgroup.interval_cycles=8", "sm.warpgroup.latency_cycles=20"})
    tree.set_option(setting, "test");
  std::vector<sim::Setup> out;
  out.push_back(sim::read_setup(tree, policy::all_policies()));
  return out;
}

/// "" when the recording was timed to its end; else what was told. Everything but InputError and
/// RunError goes on.
inline std::string notified_of(const std::string& path) {
  try {
    const trace::FileReader reader(path, sim::recording_checks());
    std::vector<sim::Setup> setups = small_machine();
    sim::Options options;
    options.max_cycles = 20'000;
    // What it says of allocations is looked at only then.
    options.analyses = {sim::read_analysis("allocations", "test")};
    sim::replay(reader, setups, options);
    return "";
  } catch (const InputError& error) {
    return error.what();
  } catch (const RunError& error) {
    return error.what();
  }
}

inline constexpr const char* kSmallKernel = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry walk(.param .u64 buffer, .param .u32 steps)
{
  .reg .pred %p<5>;
  .reg .b32 %r<10>;
  .reg .b64 %d<5>;
  .shared .align 4 .b8 tile[512];
  .shared .align 16 .b8 box[512];
  .shared .align 8 .b64 come;
  ld.param.u64 %d1, [buffer];
  ld.param.u32 %r1, [steps];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %d2, %r5, 4;
  add.s64 %d3, %d1, %d2;
  mov.u32 %r8, tile;
  mad.lo.s32 %r8, %r4, 4, %r8;
  setp.eq.u32 %p3, %r4, 0;
  @!%p3 bra begun;
  mbarrier.init.shared.b64 [come], 1;
  mbarrier.arrive.expect_tx.shared.b64 %d4, [come], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%d1], 512, [come];
begun:
  bar.sync 0;
waits:
  mbarrier.try_wait.parity.shared.b64 %p4, [come], 0;
  @!%p4 bra waits;
  @!%p3 bra again;
  cp.async.bulk.global.shared::cta.bulk_group [%d1], [box], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
again:
  cp.async.ca.shared.global [%r8], [%d3], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  ld.global.u32 %r6, [%d3];
  st.shared.u32 [%r8], %r6;
  bar.sync 0;
  ld.shared.u32 %r7, [%r8];
  add.s32 %r6, %r7, %r4;
  setp.lt.u32 %p1, %r4, 40;
  @%p1 st.global.u32 [%d3], %r6;
  atom.global.add.u32 %r7, [%d1], %r4;
  sub.s32 %r1, %r1, 1;
  setp.ne.s32 %p2, %r1, 0;
  @%p2 bra again;
  ret;
}
)";

/// Records two launches of a small kernel with loads, stores, barriers, atomics, shared memory and
/// copies beside the warp.
inline void record_small(const std::string& path) {
  const std::string ptx = path + ".ptx";
  std::ofstream(ptx) << kSmallKernel;
  config::Tree parameters;
  for (const char* one :
       {"kernel=walk", "grid=3", "block=64", "args=\"buf:1024,2:u32\"", "repeat=2"})
    parameters.set_option(one, "test");
  const runtime::Workloads none{};
  sim::NamedWorkload named = sim::make_workload(none, ptx, parameters);
  std::vector<sim::Setup> setups = small_machine();
  sim::record(*named.workload, named.info, setups.front(), {}, path);
  std::filesystem::remove(ptx);
}

}  // namespace raddle::test
