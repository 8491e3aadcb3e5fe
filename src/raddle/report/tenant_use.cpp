#include "raddle/report/tenant_use.h"

#include <algorithm>
#include <cmath>

namespace raddle::report {

namespace {

using Json = nlohmann::ordered_json;

/// Hundredths are enough to draw.
double rounded(double value) { return std::round(100 * value) / 100; }

sim::UseSample sum_of(std::span<const sim::UseSample> samples) {
  sim::UseSample out = samples.front();
  for (const sim::UseSample& sample : samples.subspan(1)) {
    out.end = sample.end;
    for (std::size_t t = 0; t < out.tenant.size(); ++t) {
      out.tenant[t].thread_instructions += sample.tenant[t].thread_instructions;
      out.tenant[t].reply_flits += sample.tenant[t].reply_flits;
      out.tenant[t].dram_bytes += sample.tenant[t].dram_bytes;
      out.tenant[t].blocks = sample.tenant[t].blocks;
    }
  }
  return out;
}

}  // namespace

Json tenant_use_json(const sim::CorunResult& run, std::size_t maximum) {
  if (!run.use) return nullptr;
  const sim::UseRecord& record = *run.use;
  const std::vector<sim::UseSample>& samples = record.samples();
  const std::size_t group = std::max<std::size_t>((samples.size() + maximum - 1) / maximum, 1);
  Json out = {{"interval", record.interval() * group},
              {"start", Json::array()},
              {"length", Json::array()},
              {"tenants", Json::array()}};
  for (const sim::TenantResult& tenant : run.tenants)
    out["tenants"].push_back({{"name", tenant.name},
                              {"ipc", Json::array()},
                              {"noc", Json::array()},
                              {"dram", Json::array()},
                              {"blocks", Json::array()}});
  for (std::size_t i = 0; i < samples.size(); i += group) {
    const std::size_t end = std::min(i + group, samples.size());
    const sim::UseSample sum = sum_of(std::span(samples).subspan(i, end - i));
    const auto cycles = static_cast<double>(sum.end - sum.start);
    const double peak = cycles * record.facts().cycles;  // in cycles of the network
    out["start"].push_back(sum.start);
    out["length"].push_back(sum.end - sum.start);
    for (std::size_t index = 0; index < sum.tenant.size(); ++index) {
      const sim::TenantUse& use = sum.tenant[index];
      Json& to = out["tenants"][index];
      to["ipc"].push_back(rounded(static_cast<double>(use.thread_instructions) / cycles));
      to["noc"].push_back(rounded(100 * static_cast<double>(use.reply_flits) * record.flit_bytes() /
                                  (peak * record.facts().reply_bytes)));
      to["dram"].push_back(
          rounded(100 * static_cast<double>(use.dram_bytes) / (peak * record.facts().dram_bytes)));
      to["blocks"].push_back(use.blocks);
    }
  }
  return out;
}

}  // namespace raddle::report
