// What a kept result (kept.h) spends its time and its traffic on: kernels, lines and allocations,
// each the largest first. Nothing is simulated; what the file does not hold is named, with the
// option that makes a run keep it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace raddle::report {

/// Why nothing was issued, most of the time.
struct HotReason {
  std::string name;  ///< as results call it (stats/terms.h); "": not known, or nothing was lost
  double share = 0;  ///< 0 to 1; of what is said where it stands
};

/// All launches of a kernel, or of a co-run a tenant.
struct HotKernel {
  std::string name;
  std::uint64_t launches = 0;
  /// Core cycles, a launch that overlaps another as well; of a tenant its warp instructions.
  std::uint64_t amount = 0;
  double share = 0;        ///< of the run's cycles; of a tenant of all warp instructions
  HotReason lost_to = {};  ///< of scheduler-cycles with a warp of it, issued ones included
};

/// A line of the CUDA source where the PTX names it, else of the PTX. Shares are of all warps that
/// looks at the SMs have seen (sim/analyses/source.cpp).
struct HotLine {
  std::vector<std::string> kernels;  ///< it is part of
  std::string file;                  ///< of the CUDA source, else ""
  std::uint64_t line = 0;
  std::string instruction;   ///< of a line of the PTX, else ""
  double share = 0;          ///< warps that stood there, at the next instruction to issue
  double awaited = 0;        ///< warps, wherever they stood, that needed what it loads
  HotReason waits = {};      ///< of those that stood there
  std::uint64_t weight = 0;  ///< what is put in order by: the larger of both, in warps
};

struct HotAllocation {
  std::string name;
  std::optional<std::uint64_t> bytes;  ///< its size, where it is a place
  std::uint64_t dram_bytes = 0, accesses = 0;
  double dram_share = 0, access_share = 0;          ///< of those of all allocations
  std::optional<double> l1d_hit_rate, l2_hit_rate;  ///< where there was anything to hit
};

struct Hot {
  std::uint64_t cycles = 0;  ///< of the launches that were timed
  double issued = 0;         ///< share of all scheduler-cycles
  HotReason lost_to;         ///< of all scheduler-cycles
  bool corun = false;        ///< `kernels` are tenants
  std::vector<HotKernel> kernels;
  std::optional<std::vector<HotLine>> lines;
  std::optional<std::vector<HotAllocation>> allocations;
  /// What is not there and what to do about it, a sentence without its full stop each.
  std::vector<std::string> lacking;
};

/// Why there is nothing to say of a result, or "": it was not timed.
std::string why_not_hot(const nlohmann::ordered_json& result);

/// Of a result that read_kept() has checked. Precondition: why_not_hot() is "".
Hot hot_of(const nlohmann::ordered_json& result);

/// At most `top` rows of each list (0: all), and `of`, how many there are.
nlohmann::ordered_json to_json(const Hot& hot, std::size_t top);

}  // namespace raddle::report
