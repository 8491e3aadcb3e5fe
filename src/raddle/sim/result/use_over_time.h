// What tenants have used of the network from the L2 and of DRAM over time, interval by interval,
// and how evenly: bursts that a mean over the run does not show. Looking changes nothing.
// Left out: the network towards the L2, and single ports and channels.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/policy/scheme/policy.h"
#include "raddle/stats/counters.h"

namespace raddle::sim {

/// One tenant in one interval.
struct TenantUse {
  std::uint64_t thread_instructions = 0;
  std::uint64_t requests = 0;    ///< that came into the miss queues
  std::uint64_t reads_sent = 0;  ///< requests for lines that left the SMs
  std::uint64_t sent = 0;        ///< all that did
  std::uint64_t reply_flits = 0;
  std::uint64_t dram_bytes = 0;
  std::uint32_t blocks = 0;  ///< resident at the interval's end, on all SMs
};

struct UseSample {
  Cycle start = 0, end = 0;
  std::vector<TenantUse> tenant;
};

/// Values of the intervals, in percent of what the machine can move at most. An interval counts by
/// its length: those up to the end of the warm-up and of the run may be shorter.
struct Spread {
  double mean = 0, deviation = 0;    ///< deviation: root of the mean square of differences
  double p10 = 0, p50 = 0, p90 = 0;  ///< in so many percent of the time it is no higher
  std::array<double, 12> above{};    ///< percent of the time above 10, 20, ..., 120 percent
};
struct IntervalValue {
  double value = 0, cycles = 1;
};
Spread spread_of(std::vector<IntervalValue> values);

/// Takes the samples of a run.
class UseRecord {
 public:
  UseRecord(Cycle interval, std::size_t tenants, const policy::BandwidthFacts& facts,
            std::uint32_t flit_bytes)
      : interval_(interval), facts_(facts), flit_bytes_(flit_bytes), before_(tenants) {}
  Cycle interval() const { return interval_; }
  /// What was counted for each tenant before cycle `now`, and its resident blocks.
  void add(Cycle now, std::span<const stats::GpuCounters> counters,
           std::span<const std::uint32_t> blocks);
  const std::vector<UseSample>& samples() const { return samples_; }
  const policy::BandwidthFacts& facts() const { return facts_; }
  std::uint32_t flit_bytes() const { return flit_bytes_; }

  /// Of the intervals that begin at `from` or later, of all tenants together.
  Spread noc(Cycle from) const;
  Spread dram(Cycle from) const;
  /// Replies that the requests which came into the miss queues ask for: those of each tenant, of
  /// which as many are for lines as of those that left the SMs, times what such a reply takes.
  Spread demand(Cycle from) const;
  nlohmann::ordered_json summary(Cycle from) const;

 private:
  template <class Value>
  Spread over(Cycle from, Value value) const;
  double noc_cycles(const UseSample& sample) const {
    return static_cast<double>(sample.end - sample.start) * facts_.cycles;
  }

  Cycle interval_;
  policy::BandwidthFacts facts_;
  std::uint32_t flit_bytes_;
  std::vector<stats::GpuCounters> before_;
  std::vector<UseSample> samples_;
};

}  // namespace raddle::sim
