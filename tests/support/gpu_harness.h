// Whole GPUs on hand-written or random streams.
#pragma once
#include <memory>
#include <string>

#include "raddle/policy/all.h"
#include "raddle/timing/gpu/gpu.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::support {

inline TenantId tenant(unsigned number) { return TenantId{static_cast<std::uint8_t>(number)}; }

/// A GPU that owns its policies.
class GpuHarness {
 public:
  explicit GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options = {},
                      std::string_view warp = "gto", std::string_view block = "rr",
                      std::string_view dram = "frfcfs", std::string_view kernel = "fcfs",
                      const policy::Choice<policy::ThrottlePolicy>* throttle = nullptr)
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose(kernel)),
        warp_(registries_.warp.choose(warp)),
        block_(registries_.block.choose(block)),
        dram_(registries_.dram.choose(dram)),
        gpu_(machine, choices(throttle), options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::BlockPolicy>> block)
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose("fcfs")),
        warp_(registries_.warp.choose("gto")),
        block_(std::move(block)),
        dram_(registries_.dram.choose("frfcfs")),
        gpu_(machine, choices(nullptr), options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::SchemePolicy>> scheme,
             std::string_view dram = "frfcfs")
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose("fcfs")),
        warp_(registries_.warp.choose("gto")),
        block_(registries_.block.choose("rr")),
        dram_(registries_.dram.choose(dram)),
        scheme_(std::move(scheme)),
        gpu_(machine, choices(nullptr), options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::MigratePolicy>> migrate)
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose("fcfs")),
        warp_(registries_.warp.choose("gto")),
        block_(registries_.block.choose("rr")),
        dram_(registries_.dram.choose("frfcfs")),
        migrate_(std::move(migrate)),
        gpu_(machine, choices(nullptr), options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::DramPolicy>> dram)
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose("fcfs")),
        warp_(registries_.warp.choose("gto")),
        block_(registries_.block.choose("rr")),
        dram_(std::move(dram)),
        gpu_(machine, choices(nullptr), options) {}
  GpuHarness(const timing::MachineSpec& machine, const timing::GpuOptions& options,
             std::unique_ptr<policy::Choice<policy::ReplacementPolicy>> replacement)
      : registries_(policy::all_policies()),
        kernel_(registries_.kernel.choose("fcfs")),
        warp_(registries_.warp.choose("gto")),
        block_(registries_.block.choose("rr")),
        replacement_(std::move(replacement)),
        dram_(registries_.dram.choose("frfcfs")),
        gpu_(machine, choices(nullptr), options) {}
  /// Returns the launch's cycles from its beginning (host side) to its end.
  Cycle run(Recording& r) {
    Cycle before = gpu_.now();
    gpu_.run(r.stream(), {r.code().name, StreamId{}, launches_++});
    return gpu_.now() - before;
  }
  /// Queues the launch on a stream; the recording must outlive its run. Returns its number.
  std::uint64_t submit(Recording& r, std::uint32_t stream, TenantId tenant = {}) {
    gpu_.submit({std::shared_ptr<void>(), &r.stream()},
                std::make_shared<const trace::LoweredCode>(trace::as_it_is(r.code())),
                {.name = r.code().name,
                 .stream = StreamId{stream},
                 .sequence = launches_,
                 .tenant = tenant});
    return launches_++;
  }
  timing::Gpu& operator*() { return gpu_; }
  timing::Gpu* operator->() { return &gpu_; }

 private:
  timing::PolicyChoices choices(const policy::Choice<policy::ThrottlePolicy>* throttle) const {
    return {.kernel = kernel_.get(),
            .warp = warp_.get(),
            .throttle = throttle,
            .block = block_.get(),
            .migrate = migrate_.get(),
            .replacement = replacement_.get(),
            .dram = dram_.get(),
            .scheme = scheme_.get()};
  }
  policy::Registries registries_;
  std::unique_ptr<policy::Choice<policy::KernelPolicy>> kernel_;
  std::unique_ptr<policy::Choice<policy::WarpPolicy>> warp_;
  std::unique_ptr<policy::Choice<policy::BlockPolicy>> block_;
  std::unique_ptr<policy::Choice<policy::ReplacementPolicy>> replacement_;
  std::unique_ptr<policy::Choice<policy::DramPolicy>> dram_;
  std::unique_ptr<policy::Choice<policy::SchemePolicy>> scheme_;
  std::unique_ptr<policy::Choice<policy::MigratePolicy>> migrate_;
  timing::Gpu gpu_;
  std::uint64_t launches_ = 0;
};

/// A small machine with several of everything, so that parts can disturb each other.
inline timing::MachineSpec busy_machine() {
  timing::MachineSpec m = small_machine();
  m.sm.count = 4;
  m.l2.slices = 4;
  m.l2.size_kib = 16;
  m.l2.mshr_entries = 8;
  m.l2.mshr_merges = 2;
  m.dram.channels = 2;
  m.dram.queue = 16;
  m.dram.drain_high = 10;
  m.dram.drain_low = 3;
  m.sm.l1d.size_kib = 4;
  m.sm.l1d.mshr_entries = 8;
  m.sm.l1d.mshr_merges = 3;

  m.sm.l1d.miss_queue = 4;
  m.sm.loads_in_flight = 12;
  m.sm.lsu_queue = 3;
  m.noc.queue_flits = 12;
  return m;
}

}  // namespace raddle::support
