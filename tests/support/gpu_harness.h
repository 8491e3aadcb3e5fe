// Whole GPUs on hand-written or random streams.
#pragma once
#include <memory>
#include <string>

#include "raddle/base/rng.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/gpu.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::testing {

/// A GPU that owns its policies.
class GpuHarness {
 public:
  explicit GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options = {},
                      std::string_view warp = "gto", std::string_view block = "rr", std::string_view dram = "frfcfs")
      : registries_(policy::all_policies()), warp_(registries_.warp.choose(warp)), block_(registries_.block.choose(block)),
        dram_(registries_.dram.choose(dram)), gpu_(machine, {warp_.get(), block_.get(), dram_.get()}, options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::BlockPolicy>> block)
      : registries_(policy::all_policies()), warp_(registries_.warp.choose("gto")), block_(std::move(block)),
        dram_(registries_.dram.choose("frfcfs")), gpu_(machine, {warp_.get(), block_.get(), dram_.get()}, options) {}
  /// Returns the launch's cycles from its beginning (host side) to its end.
  Cycle run(Recording& r) {
    Cycle before = gpu_.now();
    gpu_.run(r.stream(), {r.code().name, StreamId{}, launches_++});
    return gpu_.now() - before;
  }
  timing::Gpu& operator*() { return gpu_; }
  timing::Gpu* operator->() { return &gpu_; }

 private:
  policy::Registries registries_;
  std::unique_ptr<policy::Choice<policy::WarpPolicy>> warp_;
  std::unique_ptr<policy::Choice<policy::BlockPolicy>> block_;
  std::unique_ptr<policy::Choice<policy::DramPolicy>> dram_;
  timing::Gpu gpu_;
  std::uint64_t launches_ = 0;
};

/// A small machine with several of everything, so that parts can disturb each other.
inline timing::MachineSpec busy_machine() {
  timing::MachineSpec m = small_machine();
  m.sm.count = 4;
  m.l2.slices = 4, m.l2.size_kib = 16, m.l2.mshr_entries = 8, m.l2.mshr_merges = 2;
  m.dram.channels = 2, m.dram.queue = 16, m.dram.drain_high = 10, m.dram.drain_low = 3;
  m.sm.l1d.size_kib = 4, m.sm.l1d.mshr_entries = 8, m.sm.l1d.mshr_merges = 3, m.sm.l1d.miss_queue = 4;
  m.sm.loads_in_flight = 12, m.sm.lsu_queue = 3;
  m.noc.queue_flits = 12;
  return m;
}

/// Random instructions of every kind; all warps of a block pass the same barriers. Same seed, same kernel.
inline std::unique_ptr<Recording> random_kernel(std::uint64_t seed, std::uint32_t blocks = 12, std::uint32_t threads = 96) {
  Rng rng(seed);
  auto reg = [&] { return static_cast<std::uint8_t>(rng.below(12)); };
  Code c("random");
  c.raw().local_bytes_per_thread = 16;
  c.raw().static_shared_bytes = 1024 * rng.below(12);
  constexpr std::uint32_t kAlus = 24;
  std::uint32_t alu = 0;
  for (std::uint32_t i = 0; i < kAlus; ++i) {
    std::uint32_t at = c.op(static_cast<OpClass>(rng.below(13)), reg(), {reg(), reg()});
    if (i == 0) alu = at;
  }
  auto branch = c.branch({reg()}), bar = c.barrier(), fence = c.fence(), sleep = c.sleep(), exit = c.exit();
  auto load = c.load(reg(), reg()), load2 = c.load(reg(), reg()), cg = c.load(reg(), reg()), store = c.store(reg(), reg());
  c.raw().instructions[cg].bypass_l1 = true;
  auto vector = c.memory(OpKind::LoadGlobal, {2, 3, 4, 5}, {reg()}, "ld.global.v4.f32");
  auto local = c.memory(OpKind::LoadLocal, {reg()}, {reg()}, "ld.local"), spill = c.memory(OpKind::StoreLocal, {}, {reg()}, "st.local");
  auto shared = c.load_shared(reg(), reg()), st_shared = c.store_shared(reg(), reg()), constant = c.load_const(reg());
  auto atomic = c.atomic(reg(), reg()), reduce = c.reduce(reg());
  auto r = std::make_unique<Recording>(c, trace::LaunchShape{{blocks}, {threads}, 0});
  auto pieces = [&](std::uint32_t range, unsigned most) {
    std::vector<PieceSpec> out;
    std::uint32_t first = rng.below(range);
    for (unsigned i = 0, n = 1 + rng.below(most); i < n; ++i)
      out.push_back({first + i * (1 + rng.below(3)), static_cast<std::uint32_t>(rng.next()) | 1u, 1u << i});
    return out;
  };
  r->each_warp([&](WarpWriter& w) {
    for (unsigned phase = 0; phase < 3; ++phase) {
      for (unsigned i = 0, n = rng.below(40); i < n; ++i) {
        LaneMask mask = static_cast<LaneMask>(rng.next()) | 1u;
        switch (rng.below(22)) {
          case 0: case 1: case 2: w.lines(load, pieces(200, 3), mask); break;
          case 3: w.lines(load2, pieces(5000, 32), mask); break;
          case 4: w.lines(cg, pieces(200, 2), mask); break;
          case 5: case 6: w.lines(store, pieces(200, 4), mask); break;
          case 7: w.lines(vector, pieces(1000, 4), mask); break;
          case 8: w.lines(local, pieces(2, 1), mask); break;
          case 9: w.lines(spill, pieces(2, 1), mask); break;
          case 10: w.passes(shared, 1 + rng.below(8), mask); break;
          case 11: w.passes(st_shared, 1 + rng.below(3), mask); break;
          case 12: w.passes(constant, 1 + rng.below(2), mask); break;
          case 13: w.lines(atomic, pieces(20, 2), mask); break;
          case 14: w.lines(reduce, pieces(20, 2), mask); break;
          case 15: w.op(fence); break;
          case 16: if (rng.below(8) == 0) w.passes(sleep, rng.below(10)); break;
          case 17: w.op(branch, mask); break;
          case 18: w.lines(load, {}, 0); break;
          default:
            for (std::uint32_t k = rng.below(kAlus), e = std::min(kAlus, k + 1 + rng.below(8)); k < e; ++k) w.op(alu + k, mask);
        }
      }
      w.barrier(bar, phase % 2);
    }
    w.op(exit);
  });
  return r;
}

}  // namespace raddle::testing
