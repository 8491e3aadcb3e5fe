#include "raddle/sim/result/use_over_time.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "raddle/base/error.h"

namespace raddle::sim {

namespace {

/// Of sorted values, the least that is not exceeded in `percent` of the time.
double percentile(const std::vector<IntervalValue>& sorted, double percent, double whole) {
  double time = 0;
  for (const IntervalValue& one : sorted)
    if ((time += one.cycles) >= percent / 100 * whole) return one.value;
  return sorted.back().value;
}

nlohmann::ordered_json json_of(const Spread& spread) {
  nlohmann::ordered_json out = {{"mean", spread.mean},
                                {"deviation", spread.deviation},
                                {"p10", spread.p10},
                                {"p50", spread.p50},
                                {"p90", spread.p90}};
  for (std::size_t i = 0; i < spread.above.size(); ++i)
    out["above"][std::to_string(10 * (i + 1))] = spread.above[i];
  return out;
}

}  // namespace

Spread spread_of(std::vector<IntervalValue> values) {
  Spread out;
  if (values.empty()) return out;
  std::ranges::sort(values, {}, &IntervalValue::value);
  double longest = 0, whole = 0, squares = 0;
  for (const IntervalValue& one : values) longest = std::max(longest, one.cycles);
  RADDLE_ASSERT(longest > 0);
  for (IntervalValue& one : values) whole += one.cycles /= longest;
  for (const IntervalValue& one : values) out.mean += one.value * one.cycles / whole;
  for (const IntervalValue& one : values)
    squares += (one.value - out.mean) * (one.value - out.mean) * one.cycles;
  out.deviation = std::sqrt(squares / whole);
  out.p10 = percentile(values, 10, whole);
  out.p50 = percentile(values, 50, whole);
  out.p90 = percentile(values, 90, whole);
  for (std::size_t i = 0; i < out.above.size(); ++i) {
    const double limit = 10.0 * static_cast<double>(i + 1);
    double above = 0;
    for (const IntervalValue& one : values) above += one.value > limit ? one.cycles : 0;
    out.above[i] = 100 * above / whole;
  }
  return out;
}

void UseRecord::add(Cycle now, std::span<const stats::GpuCounters> counters,
                    std::span<const std::uint32_t> blocks) {
  RADDLE_ASSERT(counters.size() == before_.size() && blocks.size() == before_.size());
  UseSample sample;
  sample.start = samples_.empty() ? 0 : samples_.back().end;
  sample.end = now;
  RADDLE_ASSERT(sample.end > sample.start);
  for (std::size_t t = 0; t < counters.size(); ++t) {
    stats::GpuCounters c = counters[t];
    stats::accumulate(c, before_[t], -1);
    sample.tenant.push_back({.thread_instructions = c.sm.thread_instructions,
                             .requests = c.sm.requests,
                             .reads_sent = c.request.kind[0].packets,
                             .sent = c.request.packets,
                             .reply_flits = c.reply.flits,
                             .dram_bytes = c.dram.bytes,
                             .blocks = blocks[t]});
    before_[t] = counters[t];
  }
  samples_.push_back(std::move(sample));
}

template <class Value>
Spread UseRecord::over(Cycle from, Value value) const {
  std::vector<IntervalValue> values;
  for (const UseSample& sample : samples_)
    if (sample.start >= from)
      values.push_back({value(sample), static_cast<double>(sample.end - sample.start)});
  return spread_of(std::move(values));
}

Spread UseRecord::noc(Cycle from) const {
  return over(from, [&](const UseSample& sample) {
    std::uint64_t flits = 0;
    for (const TenantUse& use : sample.tenant) flits += use.reply_flits;
    const double bytes = static_cast<double>(flits) * flit_bytes_;
    return 100 * bytes / (noc_cycles(sample) * facts_.reply_bytes);
  });
}

Spread UseRecord::dram(Cycle from) const {
  return over(from, [&](const UseSample& sample) {
    std::uint64_t bytes = 0;
    for (const TenantUse& use : sample.tenant) bytes += use.dram_bytes;
    return 100 * static_cast<double>(bytes) / (noc_cycles(sample) * facts_.dram_bytes);
  });
}

Spread UseRecord::demand(Cycle from) const {
  std::vector<double> reads(before_.size()), sent(before_.size());
  for (const UseSample& sample : samples_) {
    if (sample.start < from) continue;
    for (std::size_t t = 0; t < sample.tenant.size(); ++t) {
      reads[t] += static_cast<double>(sample.tenant[t].reads_sent);
      sent[t] += static_cast<double>(sample.tenant[t].sent);
    }
  }
  return over(from, [&](const UseSample& sample) {
    double bytes = 0;
    for (std::size_t t = 0; t < sample.tenant.size(); ++t)
      if (sent[t] > 0)
        bytes += static_cast<double>(sample.tenant[t].requests) * reads[t] / sent[t] *
                 facts_.read_reply_bytes;
    return 100 * bytes / (noc_cycles(sample) * facts_.reply_bytes);
  });
}

nlohmann::ordered_json UseRecord::summary(Cycle from) const {
  return {{"sample_cycles", interval_},
          {"noc", json_of(noc(from))},
          {"noc_demand", json_of(demand(from))},
          {"dram", json_of(dram(from))}};
}

}  // namespace raddle::sim
