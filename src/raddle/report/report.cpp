#include "raddle/report/report.h"

#include <algorithm>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/report/blocks.h"
#include "raddle/report/template.h"
#include "raddle_paths.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kPlaceholder = "/*RADDLE_DATA*/";

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

Json samples_json(const sim::Result& result) {
  const std::vector<timing::Sample>& samples = result.samples;
  const std::size_t group = (samples.size() + kMaxSamples - 1) / kMaxSamples;
  Json out = {{"interval", result.sample_interval * std::max<std::size_t>(group, 1)}};
  for (const char* member :
       {"start", "length", "thread_instructions", "l1d_accesses", "l1d_hits", "dram_bytes"})
    out[member] = Json::array();
  for (std::size_t i = 0; i < samples.size(); i += group) {
    const std::size_t end = std::min(i + group, samples.size());
    timing::Sample sum = samples[i];
    for (std::size_t j = i + 1; j < end; ++j) {
      sum.thread_instructions += samples[j].thread_instructions;
      sum.l1d_accesses += samples[j].l1d_accesses;
      sum.l1d_hits += samples[j].l1d_hits;
      sum.dram_bytes += samples[j].dram_bytes;
    }
    out["start"].push_back(sum.start);
    out["length"].push_back(sample_end(result, end - 1) - sum.start);
    out["thread_instructions"].push_back(sum.thread_instructions);
    out["l1d_accesses"].push_back(sum.l1d_accesses);
    out["l1d_hits"].push_back(sum.l1d_hits);
    out["dram_bytes"].push_back(sum.dram_bytes);
  }
  return out;
}

Json run_json(const Run& run, std::size_t max_bars) {
  const sim::Result& result = *run.result;
  Json out;
  out["label"] = run.label;
  out["core_clock_mhz"] = result.core_clock_mhz;
  out["result"] = sim::to_json(result);
  out["blocks"] = blocks_json(result, max_bars);
  out["samples"] = samples_json(result);
  return out;
}

}  // namespace

Json data(const ReportInput& input) {
  Json out;
  out["raddle_version"] = RADDLE_VERSION;
  out["command"] = input.command;
  out["date"] = input.date;
  const std::size_t runs = std::max<std::size_t>(input.runs.size(), 1);
  const std::size_t max_bars = std::min(kMaxBarsOfRun, kMaxBarsOfPage / runs + 1);
  out["runs"] = Json::array();
  for (const Run& run : input.runs) out["runs"].push_back(run_json(run, max_bars));
  return out;
}

std::string html(const ReportInput& input) {
  const std::string_view page = page_template();
  const std::size_t at = page.find(kPlaceholder);
  RADDLE_ASSERT(at != std::string_view::npos);
  std::string out(page.substr(0, at));
  // A '<' occurs only inside strings of the JSON text; escaped, neither "</script" nor "<!--" can
  // appear.
  for (const char c : text_of(data(input))) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  out += page.substr(at + kPlaceholder.size());
  return out;
}

std::string json_text(const std::string& text) { return text_of(Json(text)); }

}  // namespace raddle::report
