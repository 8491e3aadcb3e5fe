#include "raddle/sim/allocation_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;
using Row = analysis::AllocationTraffic::Row;

std::string name_of(const Row& row) {
  switch (row.kind) {
    case Row::Kind::Program:
      return fmt::format("allocation {}", row.number);
    case Row::Kind::Variable:
      return row.variable;
    case Row::Kind::Local:
      return "local memory";
    case Row::Kind::Rest:
      break;
  }
  return "the rest";
}

Json figures(const analysis::AllocationCounters& c, std::uint32_t sector_bytes) {
  return {{"loads", c.loads},
          {"stores", c.stores},
          {"atomics", c.atomics},
          {"l1d_hits", c.l1d_hits},
          {"l1d_pending_hits", c.l1d_pending_hits},
          {"l1d_misses", c.l1d_misses},
          {"l2_hits", c.l2_hits},
          {"l2_pending_hits", c.l2_pending_hits},
          {"l2_misses", c.l2_misses},
          {"dram_read_bytes", c.dram_sectors_read * sector_bytes},
          {"dram_written_bytes", c.dram_sectors_written * sector_bytes}};
}

}  // namespace

Json allocation_table(const analysis::AllocationTraffic& traffic, std::uint32_t line_bytes,
                      std::uint32_t sector_bytes) {
  Json rows = Json::array();
  for (const Row& row : traffic.rows()) {
    Json one = {{"name", name_of(row)}};
    if (row.bytes != 0) {
      one["address"] = fmt::format("{:#x}", row.at);
      one["bytes"] = row.bytes;
      one["touched_bytes"] = std::min(row.bytes, row.lines_touched * line_bytes);
    }
    Json arguments = Json::object();
    for (const auto& [kernel, places] : row.arguments) arguments[kernel] = places;
    if (!arguments.empty()) one["arguments"] = std::move(arguments);
    one.update(figures(row.counters, sector_bytes));
    for (const auto& [kernel, counters] : row.kernels)
      one["kernels"][kernel] = figures(counters, sector_bytes);
    rows.push_back(std::move(one));
  }
  return {{"known", traffic.known()}, {"rows", std::move(rows)}};
}

}  // namespace raddle::sim
