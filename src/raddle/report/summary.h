// Results as text for a terminal.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// What ran where under which policies, and whether its result is right: a line.
std::string headline(const sim::Result& result);
/// One run in a few lines.
std::string summary(const sim::Result& result);
/// "16 launches timed, 44 estimated", "2 launches (the first; 18 more not timed)".
std::string launches(const sim::Result& result);
/// Were all of them timed, so that launches() says no more than their number?
bool all_timed(const sim::Result& result);
/// Of the cycles of the whole run, half of the 95 % interval: " +- 0.44 %"; "" when all were timed.
std::string interval(const sim::Result& result);
/// Of a run in which launches by kernels were refused: how many, why, and the way out; else "".
std::string refused_launches(const sim::Result& result);

/// How the run of a changed machine came by its instructions.
enum class Stream : std::uint8_t {
  Same,      ///< the op stream of the machine as it is
  Anew,      ///< executed again: a program sees something else of this machine
  Recorded,  ///< the recording's, whatever a program would have seen
};

struct Row {
  std::string label;
  std::string of_any_seed;  ///< the label without the seed
  const sim::Result* result;
  /// What was changed of the machine of the row with that of_any_seed and seed; "" = nothing. Such
  /// rows stand in no table but that of what_if.h.
  std::string what_if = {};
  Stream stream = Stream::Same;
};
/// Rows of one workload; ratios are to the first of the same seed. Of several seeds, how far they
/// lie apart stands below, and then what the changes would bring.
std::string comparison(std::string_view workload, std::span<const Row> rows);

}  // namespace raddle::report
