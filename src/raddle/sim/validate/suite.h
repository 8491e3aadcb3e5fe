// Published measurements that come with the program (data/silicon/<device>/*.csv), and the halves
// into which they are split: one in which causes of errors are sought, one that is looked at only
// when that is over.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/sim/validate/measurement.h"

namespace raddle::sim {

struct EmbeddedMeasurements {
  std::string_view device, name, csv;
};
/// In order of device and name (generated; see cmake/generated.cmake).
std::vector<EmbeddedMeasurements> embedded_measurements();

enum class Half : std::uint8_t { First, Second };
/// Rows of a file are in order of workload, parameters and launch; the first, third, fifth ... are
/// the first half. Fixed before any of them was simulated.
inline Half half_of(std::size_t row) { return row % 2 == 0 ? Half::First : Half::Second; }

/// One file of a suite.
struct SuitePart {
  std::string name;
  MeasurementFile file;
  std::vector<Half> half;  ///< by row
};
/// All files of a device. Throws InputError naming the devices there are.
std::vector<SuitePart> load_suite(const std::string& device);

/// `launch_gap: included`. Throws InputError where it is neither that nor `excluded`.
bool with_launch_gap(const MeasurementFile& file);
/// What a launch has beside the time from its first block to its last in measurements of these
/// conventions, of a machine whose launches are so far apart: `launch_gap: included` counts that
/// distance, `launch_overhead: N cycles ...` what the tool counts besides. Throws InputError.
Cycle gap_within(const MeasurementFile& file, const timing::MachineSpec& machine);
/// Was the L2 emptied before each launch?
bool cold_l2(const MeasurementFile& file);

}  // namespace raddle::sim
