#define XXH_INLINE_ALL
#include "raddle/sim/result/result.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "raddle/base/demangle.h"
#include "raddle/sim/result/version.h"
#include "raddle_paths.h"

namespace raddle::sim {

using Json = nlohmann::ordered_json;

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The fields that totals and every kernel share. Names are API (golden list in tests/golden).
void add_metrics(Json& out, Cycle cycles, const stats::GpuCounters& c) {
  const std::uint64_t l2_accesses = c.l2.reads + c.l2.writes + c.l2.atomics;
  out["cycles"] = cycles;
  out["warp_instructions"] = c.sm.issued;
  out["thread_instructions"] = c.sm.thread_instructions;
  out["ipc"] = ratio(c.sm.thread_instructions, cycles);
  out["l1d_accesses"] = c.sm.l1d_accesses;
  out["l1d_hits"] = c.sm.l1d_hits;
  out["l1d_hit_rate"] = ratio(c.sm.l1d_hits, c.sm.l1d_accesses);
  out["l1d_mpki"] = 1000.0 * ratio(c.sm.l1d_misses, c.sm.thread_instructions);
  out["l2_accesses"] = l2_accesses;
  out["l2_hits"] = c.l2.hits;
  out["l2_hit_rate"] = ratio(c.l2.hits, l2_accesses);
  out["dram_reads"] = c.dram.reads;
  out["dram_writes"] = c.dram.writes;
  out["dram_bytes"] = c.dram.bytes;
  out["noc_bytes"] = c.request.bytes + c.reply.bytes + c.dram.legs.bytes;
  out["noc_flit_hops"] = c.request.flit_hops + c.reply.flit_hops + c.dram.legs.flit_hops;
}

/// Beyond the contract: what explains the rest.
void add_details(Json& out, const stats::GpuCounters& c) {
  out["l1d_pending_hits"] = c.sm.l1d_pending_hits;
  out["l1d_misses"] = c.sm.l1d_misses;
  out["l1d_stores"] = c.sm.l1d_stores;
  out["l1d_evictions"] = c.sm.l1d_evictions;
  out["l1d_reservation_fails"] = c.sm.l1d_reservation_fails;
  for (unsigned i = 0; i < stats::kRefusals; ++i)
    out["l1d_refused"][std::string(stats::kRefusalNames[i])] = c.sm.l1d_refused[i];
  out["l1d_mean_miss_cycles"] = ratio(c.sm.l1d_miss_cycles, c.sm.l1d_fills);
  out["l1d_store_misses"] = c.sm.l1d_store_misses;
  out["l1d_write_backs"] = c.sm.l1d_write_backs;
  out["stores_combined"] = c.sm.stores_combined;
  out["loads"] = c.sm.loads;
  out["load_mean_cycles"] = ratio(c.sm.load_cycles, c.sm.loads);
  out["load_mean_lsu_cycles"] = ratio(c.sm.load_lsu_cycles, c.sm.loads);
  out["load_mean_hit_cycles"] = ratio(c.sm.load_hit_cycles, c.sm.loads);
  out["load_mean_queue_cycles"] = ratio(c.sm.load_queue_cycles, c.sm.loads);
  out["load_mean_outside_cycles"] = ratio(c.sm.load_outside_cycles, c.sm.loads);
  out["const_accesses"] = c.sm.const_accesses;
  out["const_misses"] = c.sm.const_misses;
  out["request_token_wait_cycles"] = c.sharing.token_wait_cycles;
  out["starved_token_intervals"] = c.sharing.starved_intervals;
  out["atomics"] = c.sm.atomics;
  for (unsigned i = 0; i < stats::kServedFrom; ++i)
    out["served_" + std::string(stats::kServedFromNames[i])] = c.sm.served[i];
  out["shared_accesses"] = c.sm.shared_accesses;
  out["shared_passes"] = c.sm.shared_passes;
  out["l2_pending_hits"] = c.l2.pending_hits;
  out["l2_misses"] = c.l2.misses;
  out["l2_write_backs"] = c.l2.write_backs;
  out["l2_crossings"] = c.l2.crossings;
  out["dram_written_bytes"] = c.dram.written_bytes;
  out["dram_row_hit_rate"] = ratio(c.dram.row_hits, c.dram.reads + c.dram.writes);
  out["dram_mean_queue_cycles"] = ratio(c.dram.queue_cycles, c.dram.reads + c.dram.writes);
  out["blocks"] = c.sm.blocks;
}

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

/// From the start of the first block to the end of the last one: what profilers call a kernel's
/// time.
void add_execution(Json& out, Cycle cycles, const stats::GpuCounters& c) {
  out["execution_cycles"] = cycles;
  out["execution_ipc"] = ratio(c.sm.thread_instructions, cycles);
}

Json traffic_json(const stats::NocTraffic& t) {
  return {
      {"packets", t.packets}, {"flits", t.flits}, {"bytes", t.bytes}, {"flit_hops", t.flit_hops}};
}

/// One network: its packets by kind, and its ports in sum and at most.
Json network_json(const stats::NocCounters& c, const std::vector<stats::NocPort>& ports) {
  Json out;
  for (unsigned k = 0; k < stats::kNocKinds; ++k)
    out[std::string(stats::kNocKindNames[k])] = traffic_json(c.kind[k]);
  stats::NocPort sum, most;
  for (const stats::NocPort& p : ports) {
    stats::accumulate(sum, p);
    if (p.flits > most.flits) most = p;
  }
  out["ports"] = ports.size();
  out["busiest_port_flits"] = most.flits;
  out["blocked_credit_cycles"] = sum.blocked_credit;
  out["blocked_arbitration_cycles"] = sum.blocked_arbitration;
  return out;
}

Json stalls_of(const Result& r) {
  Json out;
  out["issued"] = r.totals.sm.issued;
  for (unsigned i = 0; i < stats::kStalls; ++i)
    out[std::string(stats::kStallNames[i])] = r.totals.scheduler.stall[i];
  return out;
}

/// The first `count` components.
Json energy_json(const energy::Energy& energy, unsigned count) {
  Json out = Json::object();
  for (unsigned c = 0; c < count; ++c)
    out[std::string(energy::kComponentNames[c])] = energy.picojoule(c);
  return out;
}

Json kernel_json(const KernelResult& k) {
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
                       {"limited_by", k.resident->limited_by}};
  out["start_cycle"] = k.start;
  out["begin_cycle"] = k.begin;
  out["first_block_cycle"] = k.first;
  out["last_block_cycle"] = k.last;
  out["end_cycle"] = k.end;
  add_metrics(out, k.end - k.start, k.counters);
  add_execution(out, k.last - k.first, k.counters);
  out["stalls"] = own_stalls(k.counters);
  out["energy_pj"] = energy_json(k.energy, energy::kDynamicComponents);
  out["details"] = Json::object();
  add_details(out["details"], k.counters);
  out["details"]["l1d_most_mshrs"] = k.most_mshrs;
  return out;
}

/// `cycles` is the sum over the launches, so rates are those of the mean launch.
Json group_json(const KernelGroup& g) {
  Json out;
  out["name"] = g.name;
  out["title"] = demangled(g.name);
  out["launches"] = g.launches;
  out["device_launches"] = g.device_launches;
  out["start_cycle"] = g.start;
  out["end_cycle"] = g.end;
  out["cycles_min"] = g.shortest;
  out["cycles_mean"] = ratio(g.cycles, g.launches);
  out["cycles_max"] = g.longest;
  add_metrics(out, g.cycles, g.counters);
  add_execution(out, g.execution_cycles, g.counters);
  out["stalls"] = own_stalls(g.counters);
  out["energy_pj"] = energy_json(g.energy, energy::kDynamicComponents);
  out["details"] = Json::object();
  add_details(out["details"], g.counters);
  out["details"]["l1d_most_mshrs"] = g.most_mshrs;
  return out;
}

/// `cycles` of a stream are those in which it had a kernel under way.
Json stream_json(const StreamResult& s) {
  Json out;
  out["stream"] = s.stream;
  out["launches"] = s.launches;
  out["start_cycle"] = s.start;
  out["end_cycle"] = s.end;
  add_metrics(out, s.cycles, s.counters);
  out["details"] = Json::object();
  add_details(out["details"], s.counters);
  return out;
}

/// `cycles` of a tenant are those measured; ratios to the run alone where there was one.
Json tenant_json(const CorunResult& run, const TenantResult& tenant) {
  std::uint64_t dram_bytes = 0;
  for (const TenantResult& one : run.tenants) dram_bytes += one.counters.dram.bytes;
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
  out["kernels_completed"] = tenant.launches;
  out["restarts"] = tenant.rounds;
  add_metrics(out, run.measured(), tenant.counters);
  out["dram_share"] = ratio(tenant.counters.dram.bytes, dram_bytes);
  if (tenant.ipc_alone) {
    const double ipc = run.ipc(tenant);
    out["ipc_alone"] = *tenant.ipc_alone;
    out["slowdown"] = ipc > 0 ? Json(*tenant.ipc_alone / ipc) : Json();
  }
  out["details"] = Json::object();
  add_details(out["details"], tenant.counters);
  // Of what the L2 answers, and how long a request waited in it for its turn and for its line.
  const stats::L2Counters& l2 = tenant.counters.l2;
  out["details"]["l2_mean_queue_cycles"] =
      ratio(l2.queue_cycles, l2.reads + l2.writes + l2.atomics);
  out["details"]["l2_mean_miss_cycles"] =
      ratio(l2.miss_cycles + l2.pending_cycles, l2.misses + l2.pending_hits);
  for (unsigned i = 0; i < stats::kStalls; ++i)
    out["stalls"][std::string(stats::kStallNames[i])] = tenant.counters.sm.stall[i];
  return out;
}

Json corun_json(const CorunResult& run) {
  Json out = {{"horizon_cycles", run.horizon}, {"warmup_cycles", run.warmup}};
  if (run.use) out["use"] = run.use->summary(run.warmup);
  if (!run.sharing) return out;
  out["weighted_speedup"] = run.sharing->weighted_speedup;
  out["harmonic_speedup"] = run.sharing->harmonic_speedup;
  out["antt"] = run.sharing->antt;
  out["fairness"] = run.sharing->fairness;
  return out;
}

/// Which members of the result are extrapolated, from what and how exactly; the others are of the
/// launches that were timed.
Json sampling_json(const Result& r) {
  const Extrapolation& e = *r.sampling;
  Json timed;
  add_metrics(timed, r.cycles, r.totals);
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
std::uint64_t state_hash(const Json& out, const std::vector<KernelResult>& kernels) {
  RADDLE_ASSERT(out.at("kernels").empty());
  TextHash hash;
  std::string_view before = "{";
  for (const auto& [key, value] : out.items()) {
    hash.add(before);
    hash.add(Json(key).dump() + ":");
    before = ",";
    if (key != "kernels") {
      hash.add(value.dump());
      continue;
    }
    hash.add("[");
    for (const KernelResult& k : kernels) {
      if (&k != kernels.data()) hash.add(",");
      hash.add(kernel_json(k).dump());
    }
    hash.add("]");
  }
  hash.add("}");
  return hash.value();
}

/// One by one, or by name where there are too many.
void add_kernels(Json& out, const std::vector<KernelResult>& kernels, std::size_t single_launches) {
  if (kernels.size() <= single_launches) {
    for (const KernelResult& k : kernels) out["kernels"].push_back(kernel_json(k));
    return;
  }
  Json by_name = Json::array();
  for (const KernelGroup& g : groups_of(kernels)) by_name.push_back(group_json(g));
  out["kernels_by_name"] = std::move(by_name);
}

}  // namespace

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
    group.most_mshrs = std::max(group.most_mshrs, k.most_mshrs);
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
    s.end = std::max(s.end, k.end), ++s.launches;
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

Json to_json(const Result& r, std::size_t single_launches) {
  Json out;
  out["schema"] = 1;
  out["raddle_version"] = RADDLE_VERSION;
  out["config"] = r.config;
  out["workload"] = {{"name", r.workload},
                     {"parameters", r.parameters},
                     {"input_hash", fmt::format("{:016x}", r.input_hash)},
                     {"result", verdict_name(r.verdict)}};
  if (!r.difference.empty()) out["workload"]["difference"] = r.difference;
  if (!r.import.is_null()) out["workload"]["import"] = r.import;
  out["timed"] = r.timed;
  if (r.launches_left_out != 0) out["launches_left_out"] = r.launches_left_out;
  Json totals;
  const Whole whole = whole_of(r);
  add_metrics(totals, whole.cycles, whole.totals);
  out["totals"] = std::move(totals);
  if (r.sampling) out["sampling"] = sampling_json(r);
  Json details;
  add_details(details, r.totals);
  details["busy_cycles"] = r.busy_cycles;
  details["warp_cycles"] = r.totals.scheduler.warp_cycles;
  details["throttled_warp_cycles"] = r.totals.scheduler.throttled_warp_cycles;
  if (!r.corun) {
    details["tail_cycles"] = r.tail_cycles;
    unsigned most = 0;
    for (const KernelResult& k : r.kernels) most = std::max(most, k.most_mshrs);
    details["l1d_most_mshrs"] = most;
  }
  details["noc"] = {{"request", network_json(r.totals.request, r.request_ports)},
                    {"reply", network_json(r.totals.reply, r.reply_ports)},
                    {"memory", traffic_json(r.totals.dram.legs)}};
  out["details"] = std::move(details);
  out["kernels"] = Json::array();
  out["streams"] = Json::array();
  for (const StreamResult& s : streams_of(r.kernels)) out["streams"].push_back(stream_json(s));
  if (r.corun) {
    out["tenants"] = Json::array();
    for (const TenantResult& tenant : r.corun->tenants)
      out["tenants"].push_back(tenant_json(*r.corun, tenant));
    out["corun"] = corun_json(*r.corun);
  }
  out["schedulers"] = r.schedulers;
  out["stalls"] = stalls_of(r);
  out["policies"] = r.policies;
  out["energy_pj"] = energy_json(r.energy, energy::kComponents);
  out["component_hash"] = fmt::format("{:016x}", r.component_hash);
  // Everything but the host's own doings and what observers saw decides the hash; two equal runs
  // give equal text.
  const std::uint64_t hash = state_hash(out, r.kernels);
  out["raddle_version"] = version();
  add_kernels(out, r.kernels, single_launches);
  if (!r.analysis.is_null()) out["analysis"] = r.analysis;
  if (r.checks) out["checks"] = r.checks->json();
  out["host"] = {{"wall_seconds", r.host.wall_seconds},
                 {"functional_seconds", r.host.functional_seconds},
                 {"timing_seconds", r.host.timing_seconds},
                 {"peak_rss_bytes", r.host.peak_rss_bytes},
                 {"threads", r.host.threads}};
  out["state_hash"] = fmt::format("{:016x}", hash);
  return out;
}

}  // namespace raddle::sim
