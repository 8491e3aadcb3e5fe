#include "raddle/sim/setup/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "raddle/config/spelling.h"
#include "raddle/timing/spec/l1_spec.h"

namespace raddle::sim {

namespace {

constexpr std::array<MachinePart, 11> kParts = {{
    {"sms", "sm.count", "", "", "SMs"},
    {"clock", "core_clock_mhz", "", "", "clock of SMs, L2 and, unless it has its own, network"},
    {"registers", "sm.registers", "", "", "registers of an SM"},
    {"lsu", "sm.lsu_queue", "", "", "memory instructions before the L1D, of an SM"},
    {"l1d", "sm.l1d.size_kib", "sm.l1d.unified_kib", "ideal.l1d",
     "capacity of the L1D; with shared memory where they are one memory"},
    {"mshr", "sm.l1d.mshr_entries", "", "ideal.mshr", "lines that an L1D may miss at once"},
    {"noc", "noc.clock_mhz", "", "ideal.noc", "clock of the network, and so its bandwidth"},
    {"l2", "l2.size_kib", "", "ideal.l2", "capacity of the L2, slice by slice"},
    {"dram", "dram.clock_mhz", "", "ideal.dram", "clock of DRAM, and so its bandwidth and latency"},
    {"launch", "launch_latency_cycles", "", "", "a launch of the host on its way"},
    {"gap", "kernels.gap_cycles", "", "",
     "from the end of a launch to the next one's blocks; 0: as from the host"},
}};

constexpr std::string_view kOption = "--what-if ";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string names_of_parts() {
  std::string out;
  for (const MachinePart& part : kParts) out += (out.empty() ? "" : ", ") + std::string(part.name);
  return out;
}

GivenSetting read_change(std::string_view text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    throw InputError(
        {origin}, fmt::format("expected NAME=xFACTOR, NAME=ideal or NAME=VALUE, found '{}'; names: "
                              "{}, and every setting of a machine",
                              text, names_of_parts()));
  GivenSetting out = given_setting(text, origin);
  const MachinePart* part = find_part(out.path);
  if (out.value == "ideal" && (part == nullptr || part->ideal.empty())) {
    std::string known;
    for (const MachinePart& one : kParts)
      if (!one.ideal.empty()) known += (known.empty() ? "" : ", ") + std::string(one.name);
    throw InputError({origin},
                     fmt::format("'{}': expected one of {}, which can be ideal", out.path, known));
  }
  if (out.path.starts_with("policy."))
    throw InputError({origin}, fmt::format("{}: expected a setting of the machine, found one of a "
                                           "policy; --sweep compares its values",
                                           out.path));
  if (out.path.starts_with("run."))
    throw InputError({origin},
                     fmt::format("{}: expected a setting of the machine, found one of how "
                                 "it is run; --sweep compares its values",
                                 out.path));
  return out;
}

/// Of one item: factors of one setting would multiply, and of two values one would be lost.
void check_said_once(const std::vector<GivenSetting>& changes) {
  for (const GivenSetting& change : changes)
    if (std::ranges::count(changes, change.path, &GivenSetting::path) > 1)
      throw InputError({change.origin}, "changes '" + change.path + "' twice");
}

double number_at(const config::Tree& tree, std::string_view path, double otherwise) {
  const std::string text = number_text(tree, path);
  return text.empty() ? otherwise : std::strtod(text.c_str(), nullptr);
}

/// The part of an L1D that shares its memory. Both together grow as more ways of the same sets, as
/// by what a kernel leaves, while tags have room for so many; then the sets grow along.
void multiply_unified(const config::Tree& tree, const MachinePart& part, const GivenSetting& change,
                      std::vector<GivenSetting>& out) {
  const timing::L1dSpec usual;
  const double size = number_at(tree, part.path, usual.size_kib);
  const double way = size / number_at(tree, "sm.l1d.ways", usual.ways);
  const double unified = number_at(tree, part.along, 0) * factor_of(change);
  out.push_back({std::string(part.along), change.value, change.origin});
  if (unified > way * timing::L1dSpec::kMaxWays)
    out.push_back({std::string(part.path), change.value, change.origin});
}

}  // namespace

std::span<const MachinePart> machine_parts() { return kParts; }

const MachinePart* find_part(std::string_view name) {
  const auto* at = std::ranges::find(kParts, name, &MachinePart::name);
  return at == kParts.end() ? nullptr : at;
}

std::vector<WhatIf> read_what_ifs(const std::vector<std::string>& lists) {
  std::vector<WhatIf> out;
  for (const std::string& list : lists)
    for (const std::string_view item : split(list, ',')) {
      WhatIf& one = out.emplace_back();
      one.text = item;
      const std::string origin = std::string(kOption) + one.text;
      for (const std::string_view change : split(item, '+'))
        one.changes.push_back(read_change(change, origin));
      check_said_once(one.changes);
      if (std::ranges::count(out, one.text, &WhatIf::text) > 1)
        throw InputError({origin}, "is there twice");
    }
  return out;
}

std::vector<GivenSetting> settings_of(const WhatIf& what_if, const config::Tree& tree) {
  std::vector<GivenSetting> out;
  for (const GivenSetting& change : what_if.changes) {
    const MachinePart* part = find_part(change.path);
    if (part == nullptr) {
      const bool setting = change.path.find('.') != std::string::npos || tree.find(change.path);
      std::vector<std::string> names;
      for (const MachinePart& one : kParts) names.emplace_back(one.name);
      const std::string near = config::nearest(change.path, names);
      if (!setting)
        throw InputError(
            {change.origin},
            fmt::format("expected a part of a machine or a setting, found '{}'{}; "
                        "parts: {}",
                        change.path, near.empty() ? "" : ", did you mean '" + near + "'?",
                        names_of_parts()));
      out.push_back(change);
    } else if (change.value == "ideal") {
      out.push_back({std::string(part->ideal), "true", change.origin});
    } else {
      const std::string along = part->along.empty() ? "" : number_text(tree, part->along);
      if (is_factor(change.value) && !along.empty() && along != "0")
        multiply_unified(tree, *part, change, out);
      else out.push_back({std::string(part->path), change.value, change.origin});
    }
  }
  check_said_once(out);
  return out;
}

}  // namespace raddle::sim
