// Writes the events at an SM's L1D down, for replay.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/analysis/stream.h"
#include "raddle/base/limits.h"
#include "raddle/policy/observer.h"

namespace raddle::analysis {

/// Writes the events of one SM into its stream.
class Recorder final : public policy::L1Observer {
 public:
  explicit Recorder(SpillFile& spill) : stream_(spill) {}
  const Stream& stream() const { return stream_; }

  void access(const policy::L1Access& e) override;
  void filled(const policy::L1Fill& e) override;
  void flushed(Cycle at) override;
  void resized(Cycle at, unsigned sets, unsigned ways) override;
  void warp_started(const policy::WarpStart& e) override;

 private:
  /// A line of which sectors are asked for; as many as the L1D has MSHRs.
  struct Coming {
    std::uint32_t line;
    std::uint8_t sectors;
  };
  void put(Cycle at, Record r);
  std::vector<Coming>::iterator find_coming(std::uint32_t line);

  Stream stream_;
  std::vector<Coming> coming_;
  Cycle last_ = 0;                                    // of the last record
  std::array<std::uint64_t, kKernelSlots> launch_{};  // last seen in each launch slot, plus one
};

}  // namespace raddle::analysis
