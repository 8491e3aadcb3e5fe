#include "raddle/sim/parts.h"

#include <sys/resource.h>

namespace raddle::sim {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {
std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}
}  // namespace

void add_functional(Result& result, const runtime::LaunchRecord& launch) {
  KernelResult kernel;
  kernel.name = launch.name;
  kernel.grid = launch.grid, kernel.block = launch.block;
  kernel.stream = index(launch.stream);
  kernel.counters.sm.issued = kernel.warp_instructions = launch.warp_instructions;
  kernel.counters.sm.thread_instructions = kernel.thread_instructions = launch.thread_instructions;
  if (launch.origin) {
    std::size_t root = result.kernels.size() - 1;  // the host's launch
    while (result.kernels[root].parent) --root;
    kernel.parent = KernelParent{root + launch.origin->parent, *launch.origin};
  }
  stats::accumulate(result.totals.sm, kernel.counters.sm);
  result.kernels.push_back(std::move(kernel));
}

void fill_functional(Result& result, const runtime::SimulatedDevice& device) {
  result.timed = false;
  for (const runtime::LaunchRecord& launch : device.launches()) add_functional(result, launch);
}

runtime::SimulatedDeviceOptions device_options(const Setup& setup, const Options& options) {
  runtime::SimulatedDeviceOptions out;
  out.live = setup.run.live && !options.functional;
  out.memory_bytes = std::uint64_t{setup.device.memory_gib} << 30;
  out.max_warp_instructions = options.max_warp_instructions;
  out.max_threads_per_block = setup.machine.sm.max_threads_per_block;
  out.sms = setup.machine.sm.count;
  out.warps_per_sm = setup.machine.sm.warps;
  out.print = options.print;
  return out;
}

Result blank(const WorkloadInfo& info, Setup& setup, const Options& options) {
  Result result;
  result.workload = info.name;
  result.parameters = info.parameters;
  result.config = setup.config();
  result.schedulers = setup.machine.sm.count * setup.machine.sm.schedulers;
  result.core_clock_mhz = setup.machine.core_clock_mhz;
  result.sample_interval = options.sample_interval;
  result.host.threads = options.threads;
  return result;
}

void finish(Result& result, Clock::time_point start) {
  result.host.wall_seconds = seconds_since(start);
  result.host.peak_rss_bytes = peak_rss_bytes();
}

}  // namespace raddle::sim
