// source: what each line of the kernels has done and what warps waited for there. Counts are exact;
// what warps wait for is sampled, at random distances.

#include <algorithm>
#include <map>
#include <string>

#include "raddle/analysis/figures.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;

/// What a PTX line stands for, and what it has done in all codes of the kernel.
struct Line {
  const trace::KernelCode* code = nullptr;
  const trace::StaticInst* inst = nullptr;  // the first one of it
  stats::InstructionCounters counters;
};

/// Of one file: an entry and what it calls may be of several, whose lines do not meet as a rule.
using Lines = std::map<std::uint32_t, Line>;

void add(const timing::CodeProfile& of, Lines& lines) {
  const trace::KernelCode& code = of.code->code;
  for (std::size_t i = 0; i < of.instructions.size(); ++i) {
    const stats::InstructionCounters& counters = of.instructions[i];
    if (counters.issued == 0 && counters.seen_in_all() == 0) continue;
    Line& line = lines[code.instructions[i].line];
    if (line.code == nullptr) {
      line.code = &code;
      line.inst = &code.instructions[i];
    }
    stats::accumulate(line.counters, counters);
  }
}

void visit_line(FieldVisitor& v, const stats::InstructionCounters& c) {
  using analysis::figure;
  figure(v, "issued", c.issued, "warp instructions issued");
  figure(v, "thread_instructions", c.lanes, "lanes that took part");
  figure(v, "memory_lines", c.lines, "lines of memory asked for");
  figure(v, "l1d_hits", c.l1d_hits, "of the lines: their data was there");
  figure(v, "l1d_pending_hits", c.l1d_pending_hits, "of the lines: a miss was under way");
  figure(v, "l1d_misses", c.l1d_misses, "of the lines: the L2 was asked");
  v.enter("warps", "looks that found a warp at the line, by its state");
  for (unsigned state = 0; state < stats::kWarpStates; ++state)
    if (c.seen[state] != 0) figure(v, stats::warp_state_name(state), c.seen[state], "looks");
  v.leave();
  figure(v, "awaited", c.awaited, "looks that found a warp waiting for what the line has loaded");
}

Json describe_line(std::uint32_t number, const Line& line) {
  Json out = {{"line", number}};
  if (line.inst->opcode < line.code->opcode_names.size())
    out["instruction"] = line.code->opcode_names[line.inst->opcode];
  if (const trace::SourcePlace& at = line.inst->source; at.line != 0)
    out["source"] = {{"file", line.code->source_files.at(at.file)}, {"line", at.line}};
  out.update(figures_of([&](FieldVisitor& v) { visit_line(v, line.counters); }));
  return out;
}

/// By kernel and PTX line, machine instructions of one line together; lines that have done nothing
/// are left out. Within a kernel in order of the code. Where several files have kernels of one
/// name, all but the first are called "name (file)".
Json source_profile(const timing::Profile& profile) {
  Json out = {{"looks", profile.samplings}, {"kernels", Json::object()}};
  std::map<std::pair<std::string, std::string>, Lines> kernels;
  std::vector<std::pair<std::string, std::string>> order;
  for (const timing::CodeProfile& of : profile.codes) {
    const std::pair key{of.code->code.name, of.code->code.file};
    const auto [at, fresh] = kernels.try_emplace(key);
    if (fresh) order.push_back(key);
    add(of, at->second);
  }
  for (const auto& [name, file] : order) {
    const bool known = out["kernels"].contains(name);
    Json& kernel = out["kernels"][known ? name + " (" + file + ")" : name];
    kernel["file"] = file;
    for (const auto& [number, line] : kernels.at({name, file}))
      kernel["lines"].push_back(describe_line(number, line));
  }
  return out;
}

class SourceAnalysis final : public Analysis {
 public:
  struct Params {
    std::uint32_t interval_cycles = 64;
    void visit(FieldVisitor& v) {
      v.field("interval_cycles", interval_cycles, {1, 1'000'000}, "cycles",
              "between looks at where warps stand, in the mean");
    }
  };
  static constexpr Observed kObserves = Observed::Instructions;

  SourceAnalysis(const std::vector<Asked<Params>>& asked, const timing::MachineSpec&)
      : interval_(asked.front().params.interval_cycles) {
    if (asked.size() > 1) throw InputError("analysis source: there can be one, with one interval");
  }
  Cycle sample_interval() const override { return interval_; }
  std::vector<Json> figures(const RunTotals& totals) const override {
    RADDLE_ASSERT(totals.profile != nullptr);
    return {source_profile(*totals.profile)};
  }
  static void describe(FieldVisitor& v) {
    analysis::figure(v, "looks", 0, "how often one has looked at all warps");
    v.enter("kernels", "by name; of each its lines, in a list");
    stats::InstructionCounters counters;
    std::ranges::fill(counters.seen, 1);  // else states are left out
    visit_line(v, counters);
    v.leave();
  }

 private:
  Cycle interval_;
};

}  // namespace

void add_analysis_source(AnalysisRegistry& r) {
  r.add<SourceAnalysis>("source",
                        "what each line of the kernels has done and what warps waited for there");
}

}  // namespace raddle::sim
