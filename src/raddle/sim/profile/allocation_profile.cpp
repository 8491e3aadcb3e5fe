#include "raddle/sim/profile/allocation_profile.h"

#include <fmt/format.h>

#include "raddle/timing/spec/address_regions.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;
using Row = analysis::AllocationTraffic::Row;

std::string name_of(const Row& row) {
  switch (row.kind) {
    case Row::Kind::Program:
      return fmt::format("allocation {}", row.number);
    case Row::Kind::Variable:
    case Row::Kind::Region:
      return row.name;
    case Row::Kind::Rest:
      break;
  }
  return "the rest";
}

Json figures(const analysis::AllocationCounters& c) {
  return {{"loads", c.loads},
          {"stores", c.stores},
          {"atomics", c.atomics},
          {"l1d_hits", c.l1d_hits},
          {"l1d_pending_hits", c.l1d_pending_hits},
          {"l1d_misses", c.l1d_misses},
          {"l2_hits", c.l2_hits},
          {"l2_pending_hits", c.l2_pending_hits},
          {"l2_misses", c.l2_misses},
          {"dram_read_bytes", c.dram_read_bytes},
          {"dram_written_bytes", c.dram_written_bytes}};
}

Json describe(const Row& row) {
  Json out = {{"name", name_of(row)}};
  if (row.bytes != 0) {
    out["address"] = fmt::format("{:#x}", row.at);
    out["bytes"] = row.bytes;
    out["sectors"] = row.sectors;
    out["touched_sectors"] = row.touched_sectors;
  }
  if (row.times > 1) out["times"] = row.times;
  for (const auto& [kernel, places] : row.arguments)
    for (const std::uint32_t place : places) out["arguments"][kernel].push_back(place + 1);
  out.update(figures(row.counters));
  out["kernels"] = Json::object();
  for (const auto& [kernel, counters] : row.kernels) out["kernels"][kernel] = figures(counters);
  return out;
}

}  // namespace

std::unique_ptr<analysis::AllocationTraffic> allocation_traffic(
    const timing::MachineSpec& machine) {
  const std::uint32_t line = machine.l2.line_bytes;
  const auto first = [&](Address at) { return static_cast<std::uint32_t>(at / line); };
  const std::uint32_t local = first(timing::kLocalBase), queues = first(timing::kQueueBase),
                      constants = first(timing::kConstBase);
  return std::make_unique<analysis::AllocationTraffic>(
      analysis::AllocationTraffic::Geometry{machine.sm.count, machine.l2.slices, line,
                                            machine.l2.sector_bytes},
      std::vector<analysis::AllocationTraffic::Region>{{"local memory", local, queues - 1},
                                                       {"launch queues", queues, constants - 1},
                                                       {"constants", constants, ~0u}});
}

Json allocation_profile(const analysis::AllocationTraffic& traffic) {
  Json rows = Json::array();
  for (const Row& row : traffic.rows()) rows.push_back(describe(row));
  return {{"known", traffic.known()}, {"rows", std::move(rows)}};
}

}  // namespace raddle::sim
