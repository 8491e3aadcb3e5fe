#include "raddle/report/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "raddle/report/blocks.h"
#include "raddle/report/difference.h"
#include "raddle/report/kept.h"
#include "raddle/report/launch_tree.h"
#include "raddle/report/mesh_map.h"
#include "raddle/report/page.h"
#include "raddle/report/placement.h"
#include "raddle/report/seeds.h"
#include "raddle/report/source_texts.h"
#include "raddle/report/static_table.h"
#include "raddle/report/tenant_use.h"
#include "raddle/sim/result/commit.h"
#include "raddle/sim/result/version.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// One array per member: a tenth of the size of an array of objects.
Json blocks_json(const sim::Result& result, std::size_t limit) {
  const BarChart chart = bar_chart(result.blocks, limit);
  Json out = {{"total", chart.blocks}, {"merged", chart.merged}};
  out["until"] = chart.until == kNever ? Json() : Json(chart.until);
  for (const char* member : {"launch", "sm", "lane", "first", "last", "count", "start", "length"})
    out[member] = Json::array();
  for (const Bar& bar : chart.bars) {
    out["launch"].push_back(bar.launch);
    out["sm"].push_back(bar.sm);
    out["lane"].push_back(bar.lane);
    out["first"].push_back(bar.first_block);
    out["start"].push_back(bar.start);
    out["length"].push_back(bar.end - bar.start);
    if (chart.merged == 1) continue;
    out["last"].push_back(bar.last_block);
    out["count"].push_back(bar.count);
  }
  return out;
}

/// Where the sample after `i` starts, or the run ends.
Cycle sample_end(const sim::Result& result, std::size_t i) {
  const std::vector<timing::Sample>& samples = result.samples;
  if (i + 1 < samples.size()) return samples[i + 1].start;
  return std::max(result.cycles, samples[i].start);
}

/// What each SM has done in columns of time: IPC, share of L1D accesses that hit (null: there were
/// none), warps that have instructions left and, where a throttle has held some back, those it let
/// load: means of SM and column.
class SmsOverTime {
 public:
  SmsOverTime(const std::vector<timing::SmCounts>& counts, std::size_t max_cells) {
    if (counts.empty() || counts.front().sms.empty()) return;
    throttled_ = timing::has_throttled(counts.back());
    if (throttled_) out_["allowed"] = Json::array();
    const std::size_t cells = counts.front().sms.size() * (throttled_ ? 4 : 3);
    const std::size_t columns = std::clamp<std::size_t>(max_cells / cells, 1, kMaxSamples);
    const std::size_t group = (counts.size() + columns - 1) / columns;
    timing::each_stretch(counts, group,
                         [this](const timing::SmCounts& before, const timing::SmCounts& now) {
                           add_column(before, now);
                         });
  }
  Json take() { return std::move(out_); }

 private:
  void add_column(const timing::SmCounts& before, const timing::SmCounts& now) {
    const Cycle length = now.at - before.at;
    Json ipc = Json::array(), hits = Json::array(), warps = Json::array(), allowed = Json::array();
    for (std::size_t i = 0; i < now.sms.size(); ++i) {
      const auto &to = now.sms[i], &from = before.sms[i];
      const std::uint64_t accesses = to.l1d_accesses - from.l1d_accesses;
      const std::uint64_t running = to.warp_cycles - from.warp_cycles;
      ipc.push_back(rounded(to.thread_instructions - from.thread_instructions, length, 100));
      hits.push_back(accesses == 0 ? Json()
                                   : Json(rounded(to.l1d_hits - from.l1d_hits, accesses, 1000)));
      warps.push_back(rounded(running, length, 10));
      allowed.push_back(
          rounded(running - (to.throttled_warp_cycles - from.throttled_warp_cycles), length, 10));
    }
    out_["start"].push_back(before.at);
    out_["length"].push_back(length);
    out_["ipc"].push_back(std::move(ipc));
    out_["l1d_hit_rate"].push_back(std::move(hits));
    out_["warps"].push_back(std::move(warps));
    if (throttled_) out_["allowed"].push_back(std::move(allowed));
  }
  /// To parts of so many.
  static double rounded(std::uint64_t part, std::uint64_t whole, double parts) {
    if (whole == 0) return 0;
    return std::round(parts * static_cast<double>(part) / static_cast<double>(whole)) / parts;
  }
  bool throttled_ = false;
  Json out_ = {{"start", Json::array()},
               {"length", Json::array()},
               {"ipc", Json::array()},
               {"l1d_hit_rate", Json::array()},
               {"warps", Json::array()}};
};

Json samples_json(const sim::Result& result, std::size_t max_cells) {
  const std::vector<timing::Sample>& samples = result.samples;
  const std::size_t group = (samples.size() + kMaxSamples - 1) / kMaxSamples;
  Json out = {{"interval", result.sample_interval * std::max<std::size_t>(group, 1)}};
  for (const char* member : {"start", "length", "thread_instructions", "l1d_accesses", "l1d_hits",
                             "dram_bytes", "warp_cycles", "throttled_warp_cycles"})
    out[member] = Json::array();
  for (std::size_t i = 0; i < samples.size(); i += group) {
    const std::size_t end = std::min(i + group, samples.size());
    timing::Sample sum = samples[i];
    for (std::size_t j = i + 1; j < end; ++j) {
      sum.thread_instructions += samples[j].thread_instructions;
      sum.l1d_accesses += samples[j].l1d_accesses;
      sum.l1d_hits += samples[j].l1d_hits;
      sum.dram_bytes += samples[j].dram_bytes;
      sum.warp_cycles += samples[j].warp_cycles;
      sum.throttled_warp_cycles += samples[j].throttled_warp_cycles;
    }
    out["start"].push_back(sum.start);
    out["length"].push_back(sample_end(result, end - 1) - sum.start);
    out["thread_instructions"].push_back(sum.thread_instructions);
    out["l1d_accesses"].push_back(sum.l1d_accesses);
    out["l1d_hits"].push_back(sum.l1d_hits);
    out["dram_bytes"].push_back(sum.dram_bytes);
    out["warp_cycles"].push_back(sum.warp_cycles);
    out["throttled_warp_cycles"].push_back(sum.throttled_warp_cycles);
  }
  out["sms"] = SmsOverTime(result.sms_over_time, max_cells).take();
  return out;
}

Json placement_json(const sim::Result& result, std::size_t limit) {
  Json out = Json::array();
  for (const LaunchPlacement& p : placement(result.blocks, limit)) {
    Json sm = Json::array(), finish = Json::array();
    for (const std::uint32_t s : p.sm) sm.push_back(s == kNoSm ? Json() : Json(s));
    for (const Cycle f : p.finish) finish.push_back(f == kNever ? Json() : Json(f));
    out.push_back({{"launch", p.launch},
                   {"sm", std::move(sm)},
                   {"order", p.order},
                   {"stolen", p.stolen},
                   {"finish", std::move(finish)}});
  }
  return out;
}

/// What a result does not have as JSON; of the empty result, nothing. `single`: launches are in the
/// JSON one by one.
void add_drawings(Json& out, const sim::Result& result, std::size_t runs, bool single) {
  out["blocks"] = blocks_json(result, std::min(kMaxBarsOfRun, kMaxBarsOfPage / runs + 1));
  const std::size_t places = std::min(kMaxPlacesOfRun, kMaxPlacesOfPage / runs + 1);
  // A place belongs to a launch, which the page must know.
  out["placement"] = single ? placement_json(result, places) : Json::array();
  out["launch_tree"] =
      launch_tree_json(result, std::min(kMaxTreeRowsOfRun, kMaxTreeRowsOfPage / runs + 1));
  out["samples"] = samples_json(result, std::min(kMaxCellsOfRun, kMaxCellsOfPage / runs + 1));
  if (result.corun) out["tenant_use"] = tenant_use_json(*result.corun, kMaxSamples);
  out["mesh"] = mesh_json(result, std::min(kMaxMeshCellsOfRun, kMaxMeshCellsOfPage / runs + 1));
}

Json run_json(const Run& run, const ReportInput& input) {
  const sim::Result& result = *run.result;
  Json out;
  out["label"] = run.label;
  out["core_clock_mhz"] = result.core_clock_mhz;
  out["result"] = sim::to_json(result, input.single_launches);
  add_drawings(out, result, input.runs.size(), result.kernels.size() <= input.single_launches);
  return out;
}

Json kept_run_json(const KeptRun& run) {
  Json out;
  out["label"] = run.label;
  const auto clock = run.result.at("config").find("core_clock_mhz");
  const bool known = clock != run.result.at("config").end() && clock->is_number();
  out["core_clock_mhz"] = known ? *clock : Json(0);
  out["result"] = run.result;
  add_drawings(out, {}, 1, true);
  return out;
}

/// Of each run but the first of a work: what it differs in from that one.
void add_differences(Json& runs) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json& result = runs[i]["result"];
    const std::size_t base = first.try_emplace(work_key(result), i).first->second;
    if (base != i) runs[i]["difference"] = difference_on_page(runs[base]["result"], result, base);
  }
}

/// The members of the page that all pages of runs have.
Json page_data(const std::string& command, const std::string& date, Json runs) {
  Json out;
  out["raddle_version"] = sim::version();
  out["commit"] = sim::commit();
  out["command"] = command;
  out["date"] = date;
  add_differences(runs);
  std::vector<const Json*> results;
  for (const Json& run : runs) results.push_back(&run.at("result"));
  out["source_texts"] = source_texts(results);
  out["runs"] = std::move(runs);
  return out;
}

/// Entries for each work of which there are several seeds.
Json seeds_json(const std::vector<Run>& runs) {
  const auto of_one_work = [](const sim::Result& a, const sim::Result& b) {
    return a.workload == b.workload && a.parameters == b.parameters;
  };
  std::vector<std::vector<Row>> works;
  for (const Run& run : runs) {
    if (!run.result->timed || run.result->cycles == 0 || run.result->corun) continue;
    auto work = std::ranges::find_if(works, [&](const std::vector<Row>& rows) {
      return of_one_work(*rows.front().result, *run.result);
    });
    if (work == works.end()) work = works.emplace(works.end());
    work->push_back({run.label, run.label, run.result});
  }
  Json out = Json::array();
  for (const std::vector<Row>& rows : works)
    for (const OverSeeds& of : over_seeds(rows)) out.push_back(to_json(of, *rows.front().result));
  return out;
}

}  // namespace

Json data(const ReportInput& input) {
  Json runs = Json::array();
  for (const Run& run : input.runs) runs.push_back(run_json(run, input));
  Json out = page_data(input.command, input.date, std::move(runs));
  out["over_seeds"] = seeds_json(input.runs);
  out["what_if"] = input.what_if;
  return out;
}

Json kept_data(KeptInput input) {
  Json sentences = kept_sentences(input.runs);
  for (std::string& sentence : input.left_out) sentences.push_back(std::move(sentence));
  distinguish(input.runs);
  Json runs = Json::array();
  for (const KeptRun& run : input.runs) runs.push_back(kept_run_json(run));
  Json out = page_data(input.command, input.date, std::move(runs));
  out["kept"] = std::move(sentences);
  out["over_seeds"] = std::move(input.over_seeds);
  out["what_if"] = std::move(input.what_if);
  return out;
}

namespace {
std::string page_of(const Json& page) { return filled(Page::index, page, static_table(page)); }
}  // namespace

std::string kept_html(KeptInput input) { return page_of(kept_data(std::move(input))); }

std::string html(const ReportInput& input) { return page_of(data(input)); }

std::string json_text(const std::string& text) { return text_of(Json(text)); }

}  // namespace raddle::report
