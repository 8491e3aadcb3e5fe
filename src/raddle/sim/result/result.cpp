#define XXH_INLINE_ALL
#include "raddle/sim/result/result.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "raddle/base/demangle.h"
#include "raddle/base/json.h"
#include "raddle/sim/result/error_bars.h"
#include "raddle/sim/result/metrics_json.h"
#include "raddle/sim/result/version.h"
#include "raddle_paths.h"

namespace raddle::sim {

using Json = nlohmann::ordered_json;

namespace {

/// Scheduler-cycles for which a warp of these launches was the nearest to ready. Those without a
/// warp are nobody's.
Json own_stalls(const stats::GpuCounters& c) {
  Json out;
  out["issued"] = c.sm.issued;
  for (unsigned i = 0; i < stats::kStalls; ++i)
    if (const auto why = static_cast<stats::Stall>(i);
        why != stats::Stall::Idle && why != stats::Stall::Launch)
      out[std::string(stats::kStallNames[i])] = c.sm.stall[i];
  return out;
}

using stats::Part;

/// The first `count` components.
Json energy_json(const energy::Energy& energy, unsigned count) {
  Json out = Json::object();
  for (unsigned c = 0; c < count; ++c)
    out[std::string(energy::kComponentNames[c])] = energy.picojoule(c);
  return out;
}

/// A launch, or the launches of one kernel together.
void add_launch_metrics(Json& out, stats::Shown place, const stats::Counted& counted,
                        const energy::Energy& energy) {
  add_metrics(out, Part::Totals, place, counted);
  add_metrics(out, Part::Execution, place, counted);
  out["stalls"] = own_stalls(counted.counters);
  out["energy_pj"] = energy_json(energy, energy::kDynamicComponents);
  out["details"] = Json::object();
  add_metrics(out["details"], Part::Details, place, counted);
  add_metrics(out, Part::Utilisation, place, counted);
}

Json stalls_of(const Result& r) {
  Json out;
  out["issued"] = r.totals.sm.issued;
  for (unsigned i = 0; i < stats::kStalls; ++i)
    out[std::string(stats::kStallNames[i])] = r.totals.scheduler.stall[i];
  return out;
}

Json limits_json(const std::vector<timing::ResidencyLimit>& limits) {
  Json out = Json::array();
  for (const timing::ResidencyLimit& limit : limits)
    out.push_back({{"of", limit.of},
                   {"needs", limit.needs},
                   {"has", limit.has},
                   {"blocks", limit.needs == 0 ? Json() : Json(limit.fit)}});
  return out;
}

Json kernel_json(const KernelResult& k, const stats::Peaks& peaks) {
  Json out;
  out["name"] = k.name;
  out["title"] = demangled(k.name);
  out["grid"] = {k.grid.x, k.grid.y, k.grid.z};
  out["block"] = {k.block.x, k.block.y, k.block.z};
  out["stream"] = k.stream;
  if (k.parent)
    out["parent"] = {{"kernel", k.parent->kernel},
                     {"block", k.parent->origin.block},
                     {"depth", k.parent->origin.depth},
                     {"tail", k.parent->origin.tail}};
  if (k.resident)
    out["resident"] = {{"registers_per_thread", k.resident->registers_per_thread},
                       {"blocks", k.resident->blocks},
                       {"warps", k.resident->warps},
                       {"limited_by", k.resident->limited_by},
                       {"limits", limits_json(k.resident->limits)}};
  add_facts(out, FactOf::Launch, {.launch = &k});
  add_launch_metrics(out, stats::kLaunch,
                     {.counters = k.counters,
                      .cycles = k.end - k.start,
                      .execution_cycles = k.last - k.first,
                      .l1d_most_mshrs = k.max_mshrs,
                      .peaks = peaks},
                     k.energy);
  return out;
}

/// `cycles` is the sum over the launches, so rates are those of the mean launch.
Json group_json(const KernelGroup& g, const stats::Peaks& peaks) {
  Json out;
  out["name"] = g.name;
  out["title"] = demangled(g.name);
  add_facts(out, FactOf::Group, {.group = &g});
  add_launch_metrics(out, stats::kGroup,
                     {.counters = g.counters,
                      .cycles = g.cycles,
                      .execution_cycles = g.execution_cycles,
                      .l1d_most_mshrs = g.max_mshrs,
                      .peaks = peaks},
                     g.energy);
  return out;
}

/// `cycles` of a stream are those in which it had a kernel under way.
Json stream_json(const StreamResult& s) {
  Json out;
  out["stream"] = s.stream;
  add_facts(out, FactOf::Stream, {.stream = &s});
  const stats::Counted counted = {.counters = s.counters, .cycles = s.cycles};
  add_metrics(out, Part::Totals, stats::kStream, counted);
  out["details"] = Json::object();
  add_metrics(out["details"], Part::Details, stats::kStream, counted);
  return out;
}

/// `cycles` of a tenant are those measured; ratios to the run alone where there was one.
Json tenant_json(const CorunResult& run, const TenantResult& tenant) {
  Json out;
  out["name"] = tenant.name;
  out["parameters"] = tenant.parameters;
  out["input_hash"] = fmt::format("{:016x}", tenant.input_hash);
  out["result"] = tenant.verdict;
  out["base_address"] = tenant.base;
  out["footprint_bytes"] = tenant.footprint_bytes;
  out["block"] = {{"threads", tenant.block.threads},
                  {"warps", tenant.block.warps},
                  {"registers", tenant.block.registers},
                  {"shared_bytes", tenant.block.shared_bytes}};
  const Subject subject = {.corun = &run, .tenant = &tenant};
  const stats::Counted counted = {.counters = tenant.counters, .cycles = run.measured()};
  add_facts(out, FactOf::Tenant, subject);
  add_metrics(out, Part::Totals, stats::kTenant, counted);
  add_facts(out, FactOf::TenantShare, subject);
  if (tenant.ipc_alone) add_facts(out, FactOf::TenantAlone, subject);
  out["details"] = Json::object();
  add_metrics(out["details"], Part::Details, stats::kTenant, counted);
  for (unsigned i = 0; i < stats::kStalls; ++i)
    out["stalls"][std::string(stats::kStallNames[i])] = tenant.counters.sm.stall[i];
  return out;
}

Json corun_json(const CorunResult& run) {
  Json out;
  add_facts(out, FactOf::Corun, {.corun = &run});
  if (run.use) out["use"] = run.use->summary(run.warmup);
  if (run.sharing) add_facts(out, FactOf::Sharing, {.corun = &run});
  return out;
}

/// Which members of the result are extrapolated, from what and how exactly; the others are of the
/// launches that were timed.
Json sampling_json(const Result& r) {
  const Extrapolation& e = *r.sampling;
  Json timed;
  add_metrics(timed, Part::Totals, stats::kRun, {.counters = r.totals, .cycles = r.cycles});
  Json out = {{"extrapolated", e.estimated == 0 ? Json::array() : Json{"totals", "energy_pj"}},
              {"launches_timed", e.timed},
              {"launches_estimated", e.estimated},
              {"confidence", 0.95},
              {"cycles_half_width", e.half_width},
              {"timed_totals", std::move(timed)},
              {"classes", Json::array()}};
  if (e.all_timed_from != Extrapolation::kNoOverlap) out["all_timed_from"] = e.all_timed_from;
  for (const LaunchClass& c : e.classes) {
    const Dim3 &grid = c.first.grid, &block = c.first.block;
    out["classes"].push_back({{"kernel", c.first.name},
                              {"title", demangled(c.first.name)},
                              {"grid", {grid.x, grid.y, grid.z}},
                              {"block", {block.x, block.y, block.z}},
                              {"first_warp_instructions", c.first.warp_instructions},
                              {"launches_timed", c.timed},
                              {"launches_estimated", c.estimated},
                              {"cycles_timed", c.timed_cycles},
                              {"cycles_estimated", c.estimated_cycles()},
                              {"cycles_half_width", c.half_width()}});
  }
  return out;
}

Json details_json(const stats::Counted& counted, stats::Shown place) {
  Json out;
  add_metrics(out, Part::Details, place, counted);
  out["noc"] = noc_json(counted);
  return out;
}

std::string verdict_name(Result::Verdict v) {
  switch (v) {
    case Result::Verdict::Correct:
      return "correct";
    case Result::Verdict::Wrong:
      return "wrong";
    case Result::Verdict::Unchecked:
      return "unchecked";
  }
  return "unchecked";
}

/// XXH64 of a text that comes in pieces.
class TextHash {
 public:
  TextHash() { XXH64_reset(&state_, 0); }
  void add(std::string_view text) { XXH64_update(&state_, text.data(), text.size()); }
  std::uint64_t value() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_;
};

/// Of the text of `out` with every launch in its array `kernels`. Launches pass one at a time: the
/// whole text of a program with 100,000 would be 200 MB.
std::uint64_t state_hash(const Json& out, const Result& result) {
  const std::vector<KernelResult>& kernels = result.kernels;
  RADDLE_ASSERT(out.at("kernels").empty());
  TextHash hash;
  std::string_view before = "{";
  for (const auto& [key, value] : out.items()) {
    hash.add(before);
    hash.add(json_dump(Json(key)) + ":");
    before = ",";
    if (key != "kernels") {
      hash.add(json_dump(value));
      continue;
    }
    hash.add("[");
    for (const KernelResult& k : kernels) {
      if (&k != kernels.data()) hash.add(",");
      hash.add(json_dump(kernel_json(k, result.peaks)));
    }
    hash.add("]");
  }
  hash.add("}");
  return hash.value();
}

/// One by one, or by name where there are too many.
void add_kernels(Json& out, const Result& result, std::size_t single_launches) {
  const std::vector<KernelResult>& kernels = result.kernels;
  if (kernels.size() <= single_launches) {
    for (const KernelResult& k : kernels) out["kernels"].push_back(kernel_json(k, result.peaks));
    return;
  }
  Json by_name = Json::array();
  for (const KernelGroup& g : groups_of(kernels)) by_name.push_back(group_json(g, result.peaks));
  out["kernels_by_name"] = std::move(by_name);
}

}  // namespace

stats::Counted counted_in(const Result& r) {
  std::uint64_t max_mshrs = 0;
  for (const KernelResult& k : r.kernels)
    max_mshrs = std::max<std::uint64_t>(max_mshrs, k.max_mshrs);
  return {.counters = r.totals,
          .cycles = r.cycles,
          .busy_cycles = r.busy_cycles,
          .tail_cycles = r.tail_cycles,
          .l1d_most_mshrs = max_mshrs,
          .network = {stats::port_sums(r.request_ports), stats::port_sums(r.reply_ports)},
          .peaks = r.peaks};
}

std::vector<KernelGroup> groups_of(const std::vector<KernelResult>& kernels) {
  std::vector<KernelGroup> out;
  std::map<std::string_view, std::size_t> places;
  for (const KernelResult& k : kernels) {
    const auto [place, is_new] = places.try_emplace(k.name, out.size());
    if (is_new) {
      out.emplace_back().name = k.name;
      out.back().start = k.start;
    }
    KernelGroup& group = out[place->second];
    const Cycle cycles = k.end - k.start;
    ++group.launches;
    if (k.parent) ++group.device_launches;
    group.start = std::min(group.start, k.start);
    group.end = std::max(group.end, k.end);
    group.cycles += cycles;
    group.execution_cycles += k.last - k.first;
    group.shortest = std::min(group.shortest, cycles);
    group.longest = std::max(group.longest, cycles);
    stats::accumulate(group.counters, k.counters);
    group.max_mshrs = std::max(group.max_mshrs, k.max_mshrs);
    for (std::size_t c = 0; c < group.energy.femtojoule.size(); ++c)
      group.energy.femtojoule[c] += k.energy.femtojoule[c];
  }
  return out;
}

std::vector<StreamResult> streams_of(const std::vector<KernelResult>& kernels) {
  std::map<std::uint32_t, StreamResult> streams;
  std::vector<const KernelResult*> order;
  for (const KernelResult& k : kernels) {
    StreamResult& s = streams[k.stream];
    s.stream = k.stream;
    s.start = s.launches == 0 ? k.start : std::min(s.start, k.start);
    s.end = std::max(s.end, k.end);
    ++s.launches;
    stats::accumulate(s.counters, k.counters);
    order.push_back(&k);
  }
  // A stream's kernels follow one another, but not those that kernels launch.
  std::ranges::sort(order, {}, [](const KernelResult* k) { return std::pair(k->start, k->end); });
  std::map<std::uint32_t, Cycle> until;
  for (const KernelResult* k : order) {
    Cycle& busy = until[k->stream];
    const Cycle from = std::max(busy, k->start);
    streams[k->stream].cycles += std::max(k->end, from) - from;
    busy = std::max(busy, k->end);
  }
  std::vector<StreamResult> out;
  for (auto& [number, stream] : streams) out.push_back(std::move(stream));
  return out;
}

Whole whole_of(const Result& r) {
  if (r.sampling) return {r.sampling->cycles, r.sampling->totals};
  return {r.cycles, r.totals};
}

Json to_json(const Result& result, std::size_t single_launches) {
  Json out;
  out["schema"] = 1;
  out["raddle_version"] = RADDLE_VERSION;
  out["config"] = result.config;
  out["workload"] = {{"name", result.workload},
                     {"parameters", result.parameters},
                     {"input_hash", fmt::format("{:016x}", result.input_hash)},
                     {"result", verdict_name(result.verdict)}};
  if (!result.difference.empty()) out["workload"]["difference"] = result.difference;
  if (!result.import.is_null()) out["workload"]["import"] = result.import;
  out["timed"] = result.timed;
  if (result.launches_left_out != 0) out["launches_left_out"] = result.launches_left_out;
  Json totals;
  const Whole whole = whole_of(result);
  const stats::Shown place = result.corun ? stats::kCorun : stats::kRun;
  add_metrics(totals, Part::Totals, place, {.counters = whole.totals, .cycles = whole.cycles});
  out["totals"] = std::move(totals);
  if (result.sampling) out["sampling"] = sampling_json(result);
  const stats::Counted counted = counted_in(result);
  out["details"] = details_json(counted, place);
  add_metrics(out, Part::Utilisation, place, counted);
  add_facts(out["peaks"], FactOf::Peaks, {.run = &result});
  out["kernels"] = Json::array();
  out["streams"] = Json::array();
  for (const StreamResult& stream : streams_of(result.kernels))
    out["streams"].push_back(stream_json(stream));
  if (result.corun) {
    out["tenants"] = Json::array();
    for (const TenantResult& tenant : result.corun->tenants)
      out["tenants"].push_back(tenant_json(*result.corun, tenant));
    out["corun"] = corun_json(*result.corun);
  }
  add_facts(out, FactOf::Run, {.run = &result});
  out["stalls"] = stalls_of(result);
  out["policies"] = result.policies;
  out["energy_pj"] = energy_json(result.energy, energy::kComponents);
  out["component_hash"] = fmt::format("{:016x}", result.component_hash);
  // Everything but the host's own doings and what observers saw decides the hash; two equal runs
  // give equal text.
  const std::uint64_t hash = state_hash(out, result);
  out["raddle_version"] = version();
  add_kernels(out, result, single_launches);
  if (const auto silicon = on_silicon(result)) out["silicon"] = silicon->json();
  if (!result.analysis.is_null()) out["analysis"] = result.analysis;
  if (result.checks) out["checks"] = result.checks->json();
  add_facts(out["host"], FactOf::Host, {.run = &result});
  out["state_hash"] = fmt::format("{:016x}", hash);
  return out;
}

}  // namespace raddle::sim
