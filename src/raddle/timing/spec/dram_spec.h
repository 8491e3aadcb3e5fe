// Device memory as numbers: table [dram] of a machine file.
#pragma once
#include <algorithm>
#include <cstdint>

#include "raddle/base/fields.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

enum class DramModel : std::uint8_t { Banks, Fixed };
enum class Refresh : std::uint8_t { None, AllBank, PerBank };
/// How a number that is interleaved over parts is turned: not at all, XOR with the number of its
/// round (powers of two only), rotation by a hash of that number.
enum class AddressHash : std::uint8_t { None, Xor, Mix };

/// Timing in memory-clock (command) cycles, JEDEC names; S: other bank group, L: same bank group.
struct DramSpec {
  DramModel model = DramModel::Banks;
  std::uint32_t channels = 8, clock_mhz = 800, banks = 16, bank_groups = 4, row_bytes = 2048,
                queue = 64;
  std::uint32_t bus_bytes_per_cycle = 16;  ///< data moved per command cycle by one channel
  std::uint32_t burst_bytes = 32;          ///< one column command
  std::uint32_t command_buses = 1;         ///< 2: one for columns, one for rows
  std::uint32_t interleave_bytes = 256;    ///< consecutive bytes that stay in one channel
  std::uint32_t interleave_banks = 1;  ///< banks that consecutive interleaves of a channel go round
  AddressHash channel_hash = AddressHash::Mix, bank_hash = AddressHash::Mix;
  std::uint32_t tCL = 12, tCWL = 12, tRCD = 12, tRP = 12, tRAS = 28, tRC = 40, tCCDS = 2, tCCDL = 2,
                tRRDS = 3, tRRDL = 3, tFAW = 12, tWTRS = 5, tWTRL = 5, tWR = 12, tRTP = 3;
  std::uint32_t turnaround = 2;  ///< data bus idle between read data and write data
  Refresh refresh = Refresh::None;
  std::uint32_t tREFI = 3900, tRFC = 350;
  std::uint32_t extra_latency_cycles = 0;  ///< controller and wire, core cycles, added to each read
  std::uint32_t drain_high = 32, drain_low = 8;
  std::uint32_t fixed_latency_cycles = 100, fixed_interval_cycles = 4;  ///< model "fixed"

  /// Data cycles of a burst.
  std::uint32_t burst_cycles() const {
    return (burst_bytes + bus_bytes_per_cycle - 1) / bus_bytes_per_cycle;
  }
  /// Distance of two column commands of one direction: bursts do not overlap on the data bus.
  std::uint32_t step(bool same_group) const {
    return std::max(same_group ? tCCDL : tCCDS, burst_cycles());
  }
  /// Distance of a read command and the next write command: data of the read, then the turnaround.
  std::uint32_t read_to_write() const {
    std::uint32_t data = tCL + burst_cycles() + turnaround;
    return std::max(data > tCWL ? data - tCWL : 1, step(false));
  }
  /// Distance of the commands that refresh one bank, or all of them.
  std::uint32_t refresh_interval() const {
    return refresh == Refresh::PerBank ? tREFI / banks : tREFI;
  }
  /// Longest distance of two bursts of one request (see DramChannel).
  std::uint32_t widest_step() const {
    return step(true) > step(false) ? std::max(step(true), 2 * step(false)) : step(true);
  }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
