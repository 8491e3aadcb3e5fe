// What a machine could do in a core cycle at most: what utilisation is a share of.
#pragma once
#include <cstdint>
#include <limits>

namespace raddle::stats {

/// A peak of what nothing limits (ideal parts of a machine).
inline constexpr double kUnlimited = std::numeric_limits<double>::quiet_NaN();

/// Of all SMs, ports, slices and channels together. 0: not known. How each follows from the
/// settings of the machine: sim/result/peaks.h.
struct Peaks {
  double issue = 0;          ///< warp instructions that schedulers issue
  double l1_lines = 0;       ///< line accesses that load/store units take to the L1D ...
  double l1_line_bytes = 0;  ///< ... of so many bytes each
  double shared = 0;         ///< cycles of the banks of shared memory
  double request_flits = 0;  ///< from SMs to the L2
  double reply_flits = 0;    ///< from the L2 to SMs
  double flit_bytes = 0;
  double l2_requests = 0;  ///< looked up
  double dram_bytes = 0;
};

/// The share of the peak that `amount` is in so many cycles: 0 of nothing, NaN where nothing limits
/// it.
constexpr double utilisation(std::uint64_t amount, double peak, std::uint64_t cycles) {
  if (peak == 0 || cycles == 0) return 0;
  return static_cast<double>(amount) / (peak * static_cast<double>(cycles));
}

}  // namespace raddle::stats
