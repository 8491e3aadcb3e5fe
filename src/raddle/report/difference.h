// From one run to another of the same work: what the difference in cycles is made of. First the
// kernels, then within each what its schedulers did, which resource refused accesses, which
// allocations the traffic was for and at which lines its warps stood. All is computed from results
// as they are kept (sim/result/result.h), so that a page and `raddle explain` say the same.
//
// Parts sum to the whole exactly, in whole cycles: what is counted in other units (scheduler-
// cycles, warps seen) divides the whole by cumulative rounding, so that each part is off by less
// than one cycle, and what is left has a name. Nothing here says what caused what.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace raddle::report {

/// What A and B have of something.
struct DifferencePart {
  std::string name;   ///< as results call it, or "" of what is left
  std::string title;  ///< for people
  std::int64_t a = 0, b = 0;
  double error = 0;      ///< at most the standard error of b - a, where that is sampled
  std::size_t sums = 0;  ///< of many that are together in it, how many differ; else 0
  std::int64_t difference() const { return b - a; }
};

/// A whole and its parts, largest differences first; they sum to it in A and in B.
struct Waterfall {
  std::int64_t a = 0, b = 0;
  std::vector<DifferencePart> parts;
  std::int64_t difference() const { return b - a; }
};

/// Cycles of a kernel, summed over its launches.
struct KernelDifference {
  std::string name, title;
  Waterfall schedulers;  ///< cycles; no parts where results do not have them
  /// Of SM-cycles in which the L1D, or the queue behind it, refused the oldest access: the cause.
  Waterfall refused;
  /// Bytes of DRAM and misses of loads in the L1D, by allocation; of results that have both.
  std::optional<Waterfall> dram_bytes, l1d_misses;
  /// Cycles, by where warps stood in looks at all of them: sampled.
  std::optional<Waterfall> lines;
};

struct Difference {
  Waterfall kernels;                         ///< cycles of the run
  Waterfall schedulers;                      ///< the same cycles, by what all schedulers did
  std::vector<KernelDifference> of_kernels;  ///< largest differences first, at most kMaxKernels
  std::uint64_t looks_a = 0, looks_b = 0;    ///< at all warps, for the lines
  std::vector<std::string> notes;            ///< what is not alike in A and B, what is not in them

  static constexpr std::size_t kMaxKernels = 8;
};

/// Why two results cannot be explained by one another, or "": nothing was timed, launches were
/// estimated, tenants shared the GPU, no kernel is in both.
std::string why_not_explained(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

/// Of two results that passed check_result() (kept.h). Precondition: why_not_explained() is "".
Difference difference_of(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

nlohmann::ordered_json to_json(const Difference& difference);

/// The same with the number of the run A in its page as `base`. Where it cannot be computed, `why`
/// says why not; co-runs have only what schedulers did up to the horizon.
nlohmann::ordered_json difference_on_page(const nlohmann::ordered_json& a,
                                          const nlohmann::ordered_json& b, std::size_t base);

/// What stands above the text.
struct ExplainedRun {
  std::string label, file;
  const nlohmann::ordered_json* result;
};
/// About ten lines for a terminal; each ends with a line end.
std::string explanation(const ExplainedRun& a, const ExplainedRun& b, const Difference& difference);

/// Settings of two configurations that differ, as "sm.count 15 -> 80", policies first.
std::vector<std::string> settings_that_differ(const nlohmann::ordered_json& a,
                                              const nlohmann::ordered_json& b);

/// "bfs size=tiny", with as many parameters as a line holds.
std::string work_title(const nlohmann::ordered_json& result);

/// What is not alike in the work of two results, in words; "" where it is the same.
std::string work_that_differs(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

}  // namespace raddle::report
