#include "raddle/lab/verdict/settings.h"

#include <set>
#include <utility>

#include "raddle/lab/file/external_program.h"

namespace raddle::lab {

namespace {

Json table_of(const Settings& settings) {
  Json out = Json::object();
  for (const Setting& s : settings) out[s.path] = s.value;
  return out;
}

void add(Json& to, const char* key, Json part) {
  if (!part.empty()) to[key] = std::move(part);
}

Json workload_of(const Workload& w) {
  if (!w.members.empty()) return {{"members", w.members}};
  Json out = Json::object();
  if (w.external) out = to_json(*w.external);
  else out["workload"] = w.workload;
  out.update(table_of(w.parameters));
  add(out, "set", table_of(w.set));
  return out;
}

Json variant_of(const Variant& v) {
  Json out = Json::object();
  if (v.selection) {
    out["best_of"] = v.selection->best_of;
    out["over"] = v.selection->over;
    out[v.selection->maximise ? "maximise" : "minimise"] = v.selection->objective.text;
  }
  Json policies = Json::array();
  for (const PlacedText& p : v.policies) policies.push_back(p.text);
  add(out, "policies", std::move(policies));
  add(out, "set", table_of(v.set));
  if (v.gpu) out["gpu"] = v.gpu->text;
  return out;
}

Json axis_of(const Axis& axis) {
  Json out = Json::array();
  for (const AxisPoint& p : axis.points) {
    const Json value = std::visit([](const auto& x) { return Json(x); }, p.value);
    // One setting of that value is what `path` and `values` give; more want to be told.
    if (p.set.size() + p.parameters.size() <= 1) {
      out.push_back(value);
      continue;
    }
    Json point = {{"value", value}};
    add(point, "set", table_of(p.set));
    add(point, "parameters", table_of(p.parameters));
    out.push_back(std::move(point));
  }
  return out;
}

/// Each number that occurs in `member` of some block, once and in order.
std::set<std::size_t> used(const Experiment& e, std::vector<std::size_t> RunBlock::*member) {
  std::set<std::size_t> out;
  for (const RunBlock& block : e.runs) out.insert((block.*member).begin(), (block.*member).end());
  return out;
}

}  // namespace

Json run_settings(const Experiment& e) {
  Json out = Json::object();
  if (e.runs.empty()) return out;
  out["gpu"] = e.gpu.text;
  out["seed"] = e.seed;
  add(out, "set", table_of(e.set));
  if (e.corun) {
    out["corun"] = {{"horizon", e.corun->horizon}, {"warmup", e.corun->warmup}};
    if (e.corun->alone) out["corun"]["alone"] = e.corun->alone->text;
  }
  for (const Derived& derived : e.derived) {
    out["derived"][derived.name] = {{"value", derived.value.text}};
    if (!derived.over.empty()) out["derived"][derived.name]["over"] = derived.over;
    if (derived.where) out["derived"][derived.name]["where"] = derived.where->text;
  }
  for (const std::size_t w : used(e, &RunBlock::workloads))
    out["workloads"][e.workloads[w].name] = workload_of(e.workloads[w]);
  for (const std::size_t v : used(e, &RunBlock::variants))
    out["variants"][e.variants[v].name] = variant_of(e.variants[v]);
  for (const std::size_t a : used(e, &RunBlock::axes))
    out["axes"][e.axes[a].name] = axis_of(e.axes[a]);
  for (const RunBlock& block : e.runs)
    for (const std::string& name : block.analyses) out["analyses"][name] = e.analyses.at(name).text;
  return out;
}

}  // namespace raddle::lab
