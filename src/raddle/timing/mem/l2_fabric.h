// Between the halves of an L2. From the A100 on each half of the SMs is next to one half of the
// slices; what an SM wants of the other half comes over a fabric between them, and a copy of what
// was read stays in its own half until somebody writes it. This is a slice's share of that fabric.
//
// Sectors of the far SMs' writes and atomics cross it, and those of their reads of which their half
// has no copy. A sector takes `l2.fabric_sector_cycles`, in both directions alike.
// Source: on an H100 the data that cross, and how busy the fabric is, by the counters
// lts__t_sectors_srcunit_ltcfabric and lts__ltcfabric2ltc_cycles_active (docs/machines.md). Left
// out: the latency of crossing, the ways that copies take in the other half.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

class L2Fabric {
 public:
  /// `lines`: handles of the slice's tags.
  L2Fabric(const PartitionSpec& partition, unsigned slice, std::size_t lines)
      : present_(partition.l2.fabric_sector_cycles != 0),
        sector_time_(partition.l2.fabric_sector_cycles),
        half_(half_of(slice, partition.endpoints.slices)),
        sms_(partition.endpoints.sms),
        copies_(present() ? lines : 0) {}
  bool present() const { return present_; }

  /// Sectors that cross for a request whose line is at `at`; Tags::kAbsent: a write that takes no
  /// way.
  unsigned crossing(const Message& m, unsigned at) {
    std::uint8_t sectors = m.sectors;
    if (at != Tags::kAbsent) {
      std::uint8_t& copies = copies_[at];
      if (m.kind != MessageKind::Read) {
        copies &= static_cast<std::uint8_t>(~sectors);
      } else if (is_far(m.sm)) {
        sectors &= static_cast<std::uint8_t>(~copies);
        copies |= sectors;
      }
    }
    return is_far(m.sm) ? static_cast<unsigned>(std::popcount(sectors)) : 0;
  }
  /// Another line has the place.
  void replaced(unsigned at) { copies_[at] = 0; }
  /// The sectors cross from `now` on, behind those that are on their way. Returns the cycle from
  /// which there is room for more.
  Cycle slot_at(Cycle now, unsigned sectors) {
    free_at_ = std::max(free_at_, static_cast<double>(now)) + sectors * sector_time_;
    return free_at_ > kMaxBacklog ? static_cast<Cycle>(free_at_ - kMaxBacklog) : 0;
  }

 private:
  static unsigned half_of(unsigned number, unsigned of) { return 2 * number / of; }
  bool is_far(unsigned sm) const { return half_of(sm, sms_) != half_; }

  static constexpr double kMaxBacklog = 64;  // cycles of work that wait in it; no source
  bool present_;
  double sector_time_, free_at_ = 0;
  unsigned half_, sms_;
  std::vector<std::uint8_t> copies_;  // by handle: sectors that the far half has as well
};

}  // namespace raddle::timing
