// Programs that share a GPU up to a horizon. Each tenant is executed once before, or read from a
// recording; its launches are then timed again and again, each round beginning when the one before
// has ended, so that every tenant is there from the first cycle to the last. Tenants have streams,
// a default stream and global memory of their own: their memories lie one behind the other, as one
// driver would have placed them. Left out: tenants that come and go, copies of the host as traffic.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "raddle/sim/corun/tenant_program.h"
#include "raddle/sim/result/corun_result.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::sim {

struct CorunOptions {
  Cycle horizon = 0;
  Cycle warmup = 0;   ///< what is measured begins there
  bool alone = true;  ///< each tenant alone too, on the same machine to the same horizon
  /// By tenant, when it is known beforehand; nothing is then run alone. Thread instructions per
  /// cycle. Known either way before tenants share the GPU: schemes may go by it.
  std::vector<double> ipc_alone = {};
  Cycle sample = 0;  ///< 0, or how long the intervals are in which what tenants use is recorded
};

/// Throws InputError when options or tenants make no sense together.
void check_corun(std::size_t tenants, const Setup& setup, const Options& options,
                 const CorunOptions& corun);

/// What a result of these programs says of its workload: "a + b", and all that decides the run
/// beside the machine.
WorkloadInfo corun_info(std::span<const WorkloadInfo> tenants, const CorunOptions& corun);

/// The base address of each tenant. Throws InputError when they do not fit the address space.
std::vector<Address> bases_of(std::span<const TenantProgram> tenants);

/// Totals are of the whole run; those of tenants without the warm-up.
Result corun(std::span<const TenantProgram> tenants, Setup& setup, const Options& options,
             const CorunOptions& corun);

}  // namespace raddle::sim
