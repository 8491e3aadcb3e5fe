// What checks of kernels' accesses (exec/run/access_checks.h) have found in a run.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "raddle/exec/run/access_checks.h"

namespace raddle::sim {

struct CheckReport {
  exec::CheckOptions asked;
  std::vector<exec::Finding> findings;
  std::uint64_t more = 0;  ///< findings that are not among these
  std::map<std::string, std::string>
      left_out;  ///< kernels whose shared memory is not looked at: why

  explicit CheckReport(const exec::AccessChecks& checks);
  /// For people, what is wrong in one sentence; "" when nothing is.
  std::string failure() const;
  /// A line for each finding, and what was not looked at.
  std::string text() const;
  nlohmann::ordered_json json() const;
};

/// nullopt when none is asked for.
std::optional<exec::AccessChecks> checks_of(const exec::CheckOptions& asked);
/// Lines behind the message of a fault that ended a run; "" when nothing had been found.
std::string found_before_a_fault(const std::optional<exec::AccessChecks>& checks);

}  // namespace raddle::sim
