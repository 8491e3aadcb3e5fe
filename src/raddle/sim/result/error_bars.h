// How far off kernels of a class were on machines of which there are measurements, for whoever
// reads a result of such a machine.
//
// What is known is kept in data/errors/<machine>.csv: a row for each kernel that `validate --suite`
// has compared, written by its option --keep-errors. Nothing is said of a machine that was not
// measured, or that is not as it was then.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/sim/result/result.h"

namespace raddle::sim {

/// Launches of one kernel of a workload together.
struct KernelError {
  std::string part, workload, parameters, kernel;
  std::uint64_t launches = 0;
  double measured_cycles = 0, simulated_cycles = 0;  ///< of a launch, in the mean
  double microseconds = 0;                           ///< simulated, likewise
  std::string limited_by = {};                       ///< of what was simulated (busy.h)

  /// |simulated - measured| / measured
  double error() const;
};

struct KeptErrors {
  std::string machine;
  std::vector<KernelError> kernels;
};

/// Lines "# key: value", of which `machine` must be there, the line of names, a kernel a row.
/// Throws InputError naming file and line.
KeptErrors read_errors(std::istream& in, const std::string& file);
/// `heads`: further lines, "key: value".
std::string to_csv(const KeptErrors& errors, const std::vector<std::string>& heads);

struct EmbeddedErrors {
  std::string_view machine, csv;
};
/// In order of machine (generated; see cmake/generated.cmake).
std::vector<EmbeddedErrors> embedded_errors();

/// Errors of the kernels of a class.
struct ErrorBar {
  enum class Of : std::uint8_t { Class, Limit, All };
  std::string kernels;  ///< "kernels limited by DRAM, of 10 microseconds and more"
  std::size_t count = 0;
  double median = 0, p90 = 0;  ///< of |simulated - measured| / measured
  Of of = Of::Class;  ///< those that are limited by the same and as long, ... by the same, all
};

/// A launch of at least so many microseconds is long.
inline constexpr double kLongMicroseconds = 10;
/// Fewer kernels than these are no class: a nineth of ten wants ten.
inline constexpr std::size_t kFewestKernels = 10;

/// Of kernels that are limited by the same and as long; where those are too few, of those that are
/// limited by the same; else of all. Nothing where all are too few.
std::optional<ErrorBar> error_bar(const KeptErrors& errors, std::string_view limited_by,
                                  double microseconds);

/// What is known of the kernels of a result.
struct OnSilicon {
  std::optional<ErrorBar> bar;
  double share = 0;      ///< of the launches' cycles that are of such kernels
  std::string machine;   ///< of the measurements
  std::string why_none;  ///< one sentence, where there is no bar

  std::string text() const;
  nlohmann::ordered_json json() const;
};
/// By the class that takes most of the launches' cycles. Nothing of a result without timed
/// launches.
std::optional<OnSilicon> on_silicon(const Result& result);

}  // namespace raddle::sim
