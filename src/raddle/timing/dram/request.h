// What a DRAM channel takes and gives, and the commands that it sends to its banks.
#pragma once
#include <cstdint>

#include "raddle/base/types.h"
#include "raddle/policy/dram/policy.h"

namespace raddle::timing {

struct DramRequest {
  std::uint32_t line = 0;
  std::uint16_t tag = 0;  ///< the sender's handle; comes back with the data
  std::uint16_t sm = 0;
  std::uint8_t sectors = 0, slice = 0;  ///< slice inside the partition
  std::uint8_t kernel = 0;
  // One byte for all three: the queue's slots are as large as they may be.
  bool write : 1 = false;
  std::uint8_t tenant : 4 = 0;
  std::uint8_t core_rank : 3 = policy::kLastCoreRank;
  /// `rank`: of the core that asks, if one does.
  DramRequest& of(TenantId whose, std::uint8_t rank = policy::kLastCoreRank) {
    tenant = index(whose) & 0xf;
    core_rank = rank & policy::kLastCoreRank;
    return *this;
  }
};
static_assert(sizeof(DramRequest) == 12 && kMaxTenants <= 16 && policy::kCoreRanks == 8);

/// Data of a read, complete at core cycle `at`.
struct DramReply {
  Cycle at = 0, since = 0;  ///< since: when the request was pushed
  std::uint32_t line = 0;
  std::uint16_t tag = 0;
  std::uint8_t sectors = 0, slice = 0;
};

/// RefreshAll: every bank, `bank` is 0.
enum class DramCommandKind : std::uint8_t {
  Activate,
  Precharge,
  PrechargeAll,
  Read,
  Write,
  Refresh,
  RefreshAll
};

struct DramCommand {
  std::uint64_t at = 0;  ///< memory cycle
  DramCommandKind kind = DramCommandKind::Activate;
  std::uint32_t bank = 0, row = 0, column = 0;
  std::uint32_t line = 0;  ///< of the request it serves; of none: 0
};

/// Sees every command, for tests and traces. The bursts of a request are reported together, ahead
/// of time.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  virtual void on_command(const DramCommand& command) = 0;
};

}  // namespace raddle::timing
