// What a co-run gives back for each tenant, and how well the tenants have shared the GPU.
//
// S_i = IPC of tenant i in the co-run / its IPC alone, both in the measured cycles.
//   weighted speedup  sum of S_i (Snavely and Tullsen, ASPLOS 2000); N at best, without synergy
//   harmonic speedup  N / sum of 1/S_i (Luo, Gummaraju, Franklin, ISPASS 2001)
//   ANTT              mean of 1/S_i: average normalized turnaround time (Eyerman and Eeckhout,
//                     IEEE Micro 2008)
//   fairness          least 1/S_i / greatest 1/S_i; 1 when all are slowed down alike (Gabor, Weiss
//                     and Mendelson, MICRO 2006)
#pragma once
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/sim/result/use_over_time.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/code/occupancy.h"

namespace raddle::sim {

struct TenantResult {
  std::string name;
  nlohmann::ordered_json parameters;
  std::uint64_t input_hash = 0;
  std::string verdict;  ///< "correct", "wrong", "unchecked"
  Address base = 0;
  std::uint64_t footprint_bytes = 0;
  timing::BlockNeeds block;         ///< the most of each that a block of it takes of an SM
  stats::GpuCounters counters;      ///< in the measured cycles
  std::uint64_t launches = 0;       ///< completed in the measured cycles
  std::uint64_t rounds = 0;         ///< ends of its program in them
  std::optional<double> ipc_alone;  ///< thread instructions per cycle
};

/// A launch of a tenant, in order of the numbers that blocks know them by.
struct TenantLaunch {
  std::uint32_t tenant = 0;
  std::string name;
  std::uint32_t stream = 0;
  Dim3 grid, block;
  Cycle start = kNever, end = kNever;  ///< as timing::KernelRun; kNever: not before the horizon
};

struct Sharing {
  double weighted_speedup = 0, harmonic_speedup = 0, antt = 0, fairness = 0;
};
/// None when a tenant has done nothing in one of the runs.
std::optional<Sharing> sharing(std::span<const double> ipc, std::span<const double> ipc_alone);

struct CorunResult {
  Cycle horizon = 0, warmup = 0;
  std::vector<TenantResult> tenants;
  std::optional<Sharing> sharing;      ///< of alone runs
  std::vector<TenantLaunch> launches;  ///< all, also those of the warm-up
  std::optional<UseRecord> use;        ///< of the whole run, where it was asked for

  Cycle measured() const { return horizon - warmup; }
  double ipc(const TenantResult& tenant) const {
    return static_cast<double>(tenant.counters.sm.thread_instructions) /
           static_cast<double>(measured());
  }
  /// NaN when it has done nothing. Precondition: it has run alone.
  double slowdown(const TenantResult& tenant) const {
    const double shared = ipc(tenant);
    return shared > 0 ? *tenant.ipc_alone / shared : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace raddle::sim
