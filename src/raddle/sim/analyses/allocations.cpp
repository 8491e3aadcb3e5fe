// allocations: which buffers and variables a run's accesses of memory go to, and what the caches
// and DRAM do for each (analysis/allocations.h).
#include "raddle/analysis/allocations.h"

#include <fmt/format.h>

#include "raddle/analysis/figures.h"
#include "raddle/sim/profile/analysis.h"
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

void visit_counters(FieldVisitor& v, const analysis::AllocationCounters& c) {
  using analysis::figure;
  figure(v, "loads", c.loads, "of lines, by accesses of warps");
  figure(v, "stores", c.stores, "of lines");
  figure(v, "atomics", c.atomics, "of lines");
  figure(v, "l1d_hits", c.l1d_hits, "loads of lines whose data was there");
  figure(v, "l1d_pending_hits", c.l1d_pending_hits, "loads of lines that waited for a miss");
  figure(v, "l1d_misses", c.l1d_misses, "loads of lines that ask the L2");
  figure(v, "l2_hits", c.l2_hits, "requests whose data was there");
  figure(v, "l2_pending_hits", c.l2_pending_hits, "requests that waited for a miss");
  figure(v, "l2_misses", c.l2_misses, "requests that ask DRAM");
  std::uint64_t read = c.dram_read_bytes, written = c.dram_written_bytes;
  v.field("dram_read_bytes", read, {}, "bytes", "over the bus, in whole bursts");
  v.field("dram_written_bytes", written, {}, "bytes", "over the bus, in whole bursts");
}

Json counters_of(const analysis::AllocationCounters& counters) {
  return figures_of([&](FieldVisitor& v) { visit_counters(v, counters); });
}

Json describe_row(const Row& row) {
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
  out.update(counters_of(row.counters));
  out["kernels"] = Json::object();
  for (const auto& [kernel, counters] : row.kernels) out["kernels"][kernel] = counters_of(counters);
  return out;
}

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

/// `known`: whether it was said what is allocated (recordings of old and traces do not); a list of
/// rows as of AllocationTraffic::rows(). Arguments count from 1 here.
Json allocation_profile(const analysis::AllocationTraffic& traffic) {
  Json rows = Json::array();
  for (const Row& row : traffic.rows()) rows.push_back(describe_row(row));
  return {{"known", traffic.known()}, {"rows", std::move(rows)}};
}

class AllocationsAnalysis final : public Analysis {
 public:
  using Params = NoAnalysisParams;
  static constexpr Observed kObserves = Observed::Memory;

  AllocationsAnalysis(const std::vector<Asked<Params>>& asked, const timing::MachineSpec& machine)
      : traffic_(allocation_traffic(machine)) {
    if (asked.size() > 1) throw InputError("analysis allocations: there can be one");
  }
  policy::L1Observer* of_sm(unsigned sm) override { return &traffic_->of_sm(sm); }
  policy::L2Observer* of_slice(unsigned slice) override { return &traffic_->of_slice(slice); }
  void allocated(const trace::AllocationChanges& changes) override { traffic_->allocated(changes); }
  void submitted(const runtime::LaunchRecord& record) override {
    traffic_->submitted(record.name, record.pointers);
  }
  std::vector<Json> figures(const RunTotals&) const override {
    return {allocation_profile(*traffic_)};
  }
  static void describe(FieldVisitor& v) {
    bool known = true;
    v.field("known", known, "whether it was said what is allocated");
    v.enter("rows", "a list: allocations, variables, regions and the rest");
    std::string name;
    v.field("name", name, "of the variable or region, or the allocation's number");
    std::uint64_t bytes = 0;
    v.field("bytes", bytes, {}, "bytes", "of an allocation or variable");
    analysis::figure(v, "sectors", 0, "that it has");
    analysis::figure(v, "touched_sectors", 0, "that the L2 was asked for");
    analysis::figure(v, "times", 0, "allocations of this place and size, where more than one");
    visit_counters(v, {});
    v.leave();
  }

 private:
  std::unique_ptr<analysis::AllocationTraffic> traffic_;
};

}  // namespace

void add_analysis_allocations(AnalysisRegistry& r) {
  r.add<AllocationsAnalysis>("allocations",
                             "which buffers accesses go to, and what caches and DRAM do for each");
}

}  // namespace raddle::sim
