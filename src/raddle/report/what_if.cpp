#include "raddle/report/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "raddle/base/error.h"
#include "raddle/base/stable_sort.h"

namespace raddle::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStreamNames[] = {"same", "anew", "recorded"};

/// The row with the same policies and seed on the machine as it is.
const Row& as_it_is(const Row& row, std::span<const Row> rows) {
  const auto found = std::ranges::find_if(rows, [&](const Row& other) {
    return other.what_if.empty() && other.of_any_seed == row.of_any_seed &&
           seed_of(other) == seed_of(row);
  });
  RADDLE_ASSERT(found != rows.end());
  return *found;
}

void add_leaves(const Json& value, const std::string& path, std::map<std::string, Json>& out) {
  if (!value.is_object()) {
    out[path] = value;
    return;
  }
  for (const auto& [key, inner] : value.items())
    add_leaves(inner, path.empty() ? key : path + "." + key, out);
}

Json changes_of(const Json& from, const Json& to) {
  std::map<std::string, Json> before, after;
  add_leaves(from, "", before);
  add_leaves(to, "", after);
  for (const auto& [path, value] : before) after.try_emplace(path);
  Json out = Json::object();
  for (const auto& [path, value] : after) {
    const auto old = before.find(path);
    const Json was = old == before.end() ? Json() : old->second;
    if (was != value) out[path] = {{"from", was}, {"to", value}};
  }
  return out;
}

double log_time(const sim::Result& result) {
  return std::log(static_cast<double>(sim::whole_of(result).cycles) / result.core_clock_mhz);
}

/// By policy, in order of rows: the mean over the seeds of the logarithm of its time.
std::vector<std::pair<std::string, double>> times(std::span<const Row> rows,
                                                  const std::string& item) {
  std::vector<std::pair<std::string, double>> out;
  for (const Row& first : rows) {
    const auto same = [&](const auto& one) { return one.first == first.of_any_seed; };
    if (first.what_if != item || std::ranges::any_of(out, same)) continue;
    double sum = 0;
    unsigned runs = 0;
    for (const Row& row : rows) {
      if (row.what_if != item || row.of_any_seed != first.of_any_seed) continue;
      sum += log_time(*row.result);
      ++runs;
    }
    out.emplace_back(first.of_any_seed, sum / runs);
  }
  return out;
}

std::vector<std::string> order_of(std::span<const Row> rows, const std::string& item) {
  std::vector<std::pair<std::string, double>> all = times(rows, item);
  sort_stably(all, &std::pair<std::string, double>::second);
  std::vector<std::string> out;
  for (const auto& [policy, time] : all) out.push_back(policy);
  return out;
}

/// Rounding of sums of logarithms is no order.
bool sooner(double a, double b) { return a < b - 1e-12; }

std::vector<std::pair<std::string, std::string>> turned_by(std::span<const Row> rows,
                                                           const std::string& item) {
  const auto before = times(rows, ""), after = times(rows, item);
  std::vector<std::pair<std::string, std::string>> out;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t j = 0; j < before.size(); ++j)
      if (sooner(before[i].second, before[j].second) && sooner(after[j].second, after[i].second))
        out.emplace_back(before[i].first, before[j].first);
  return out;
}

WhatIf::OfPolicy of_policy(std::span<const Row> rows, const Row& first) {
  std::vector<double> ratios;
  for (const Row& row : rows)
    if (row.what_if == first.what_if && row.of_any_seed == first.of_any_seed)
      ratios.push_back(speedup(*row.result, *as_it_is(row, rows).result));
  return {first.of_any_seed, spread_of_ratios(ratios)};
}

Json to_json(const WhatIf& one, const sim::Result& first) {
  Json policies = Json::array(), turned = Json::array();
  for (const WhatIf::OfPolicy& of : one.policies)
    policies.push_back({{"policies", of.policy}, {"speedup", report::to_json(of.speedup)}});
  for (const auto& [before, after] : one.turned) turned.push_back({before, after});
  return {{"workload", first.workload},
          {"parameters", first.parameters},
          {"item", one.item},
          {"changes", one.changes},
          {"stream", kStreamNames[static_cast<std::size_t>(one.stream)]},
          {"instructions", one.instructions},
          {"policies", std::move(policies)},
          {"order", one.order},
          {"turned", std::move(turned)}};
}

/// "l2.size_kib 96 to 192, ideal.dram false to true".
std::string changes_text(const Json& changes) {
  // Configurations leave out what is not in use.
  const auto shown = [](const Json& value) { return value.is_null() ? "unused" : value.dump(); };
  std::string out;
  for (const auto& [path, change] : changes.items())
    out += fmt::format("{}{} {} to {}", out.empty() ? "" : ", ", path, shown(change["from"]),
                       shown(change["to"]));
  return out;
}

std::string order_text(const WhatIf& one) {
  if (one.policies.size() < 2) return "";
  constexpr std::size_t kMaxNamed = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(one.turned.size(), kMaxNamed); ++i)
    out += fmt::format("{}{} before {}", i == 0 ? "" : ", ", one.turned[i].second,
                       one.turned[i].first);
  if (one.turned.size() > kMaxNamed)
    out += fmt::format(" and {} more", one.turned.size() - kMaxNamed);
  return out.empty() ? "order as it is; " : "order changes: " + out + "; ";
}

std::string value_text(const Spread& speedup) {
  const std::string mean = fmt::format("{:.3f}", speedup.mean);
  if (!speedup.interval) return mean;
  return fmt::format("{} [{:.3f}, {:.3f}]", mean, speedup.interval->low, speedup.interval->high);
}

/// What one should know of how it was run.
std::string stream_text(const WhatIf& one) {
  if (one.stream == Stream::Recorded)
    return fmt::format(
        "  {}: instructions are the recording's, whatever a program would see of "
        "such a machine\n",
        one.item);
  if (one.stream != Stream::Anew) return "";
  return fmt::format("  {}: executed anew, as the program can see the change{}\n", one.item,
                     one.instructions == 1 ? "; it does the same number of instructions"
                                           : fmt::format("; it does {:.3f} times the instructions",
                                                         one.instructions));
}

}  // namespace

std::vector<WhatIf> what_ifs(std::span<const Row> rows) {
  std::vector<WhatIf> out;
  for (const Row& row : rows) {
    if (row.what_if.empty()) continue;
    auto at = std::ranges::find(out, row.what_if, &WhatIf::item);
    if (at == out.end()) {
      const sim::Result& before = *as_it_is(row, rows).result;
      at = out.emplace(out.end());
      at->item = row.what_if;
      at->changes = changes_of(before.config, row.result->config);
      at->stream = row.stream;
      const auto issued = [](const sim::Result& r) {
        return static_cast<double>(sim::whole_of(r).totals.sm.issued);
      };
      if (issued(before) != 0) at->instructions = issued(*row.result) / issued(before);
      at->order = order_of(rows, row.what_if);
      at->turned = turned_by(rows, row.what_if);
    }
    if (std::ranges::find(at->policies, row.of_any_seed, &WhatIf::OfPolicy::policy) ==
        at->policies.end())
      at->policies.push_back(of_policy(rows, row));
  }
  return out;
}

std::vector<std::string> order_as_it_is(std::span<const Row> rows) { return order_of(rows, ""); }

Json what_if_json(std::span<const Row> rows) {
  Json out = Json::array();
  for (const WhatIf& one : what_ifs(rows)) {
    out.push_back(to_json(one, *rows.front().result));
    out.back()["order_as_it_is"] = order_as_it_is(rows);
  }
  return out;
}

std::string what_if_table(std::span<const Row> rows) {
  const std::vector<WhatIf> all = what_ifs(rows);
  if (all.empty()) return "";
  std::size_t width = 12, column = 8;
  for (const WhatIf& one : all) {
    width = std::max(width, one.item.size());
    for (const WhatIf::OfPolicy& of : one.policies)
      column = std::max({column, of.policy.size(), value_text(of.speedup).size()});
  }
  const bool seeds = all.front().policies.front().speedup.interval.has_value();
  std::string out = fmt::format(
      "  what would it bring: speed-up of each policy over itself on the machine as it is{}\n"
      "  {:<{}}",
      seeds ? "\n  (mean of the seeds [95 % interval by Student's t])" : "", "what if", width);
  const bool alone = all.front().policies.size() == 1;
  for (const WhatIf::OfPolicy& of : all.front().policies)
    out += fmt::format(" {:>{}}", alone ? "speed-up" : of.policy, column);
  out += "\n";
  for (const WhatIf& one : all) {
    out += fmt::format("  {:<{}}", one.item, width);
    for (const WhatIf::OfPolicy& of : one.policies)
      out += fmt::format(" {:>{}}", value_text(of.speedup), column);
    out += "  " + order_text(one) + changes_text(one.changes) + "\n";
  }
  for (const WhatIf& one : all) out += stream_text(one);
  return out;
}

}  // namespace raddle::report
