#include "raddle/sim/profile/source_profile.h"

#include <map>
#include <string>

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

Json seen(const stats::InstructionCounters& counters) {
  Json out = Json::object();
  for (unsigned state = 0; state < stats::kWarpStates; ++state)
    if (counters.seen[state] != 0)
      out[std::string(stats::warp_state_name(state))] = counters.seen[state];
  return out;
}

Json describe(std::uint32_t number, const Line& line) {
  const stats::InstructionCounters& c = line.counters;
  Json out = {{"line", number}};
  if (line.inst->opcode < line.code->opcode_names.size())
    out["instruction"] = line.code->opcode_names[line.inst->opcode];
  if (const trace::SourcePlace& at = line.inst->source; at.line != 0)
    out["source"] = {{"file", line.code->source_files.at(at.file)}, {"line", at.line}};
  out["issued"] = c.issued;
  out["thread_instructions"] = c.lanes;
  out["memory_lines"] = c.lines;
  out["l1d_hits"] = c.l1d_hits;
  out["l1d_pending_hits"] = c.l1d_pending_hits;
  out["l1d_misses"] = c.l1d_misses;
  out["warps"] = seen(c);
  out["awaited"] = c.awaited;
  return out;
}

}  // namespace

Json source_profile(const timing::Profile& profile) {
  Json out = {{"looks", profile.looks}, {"kernels", Json::object()}};
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
      kernel["lines"].push_back(describe(number, line));
  }
  return out;
}

}  // namespace raddle::sim
