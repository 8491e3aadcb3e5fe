#include "raddle/report/hot.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "raddle/base/stable_sort.h"
#include "raddle/report/json_member.h"
#include "raddle/report/source_lines.h"
#include "raddle/stats/terms.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// 0 where there is none: results of older programs lack some.
std::uint64_t number_at(const Json& of, std::string_view key) {
  const Json& value = member(of, key);
  return value.is_number() ? value.get<std::uint64_t>() : 0;
}

double part_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

using Counts = std::map<std::string, std::uint64_t>;

void sum_counts(Counts& into, const Json& counts) {
  for (const auto& [name, n] : counts.items()) into[name] += n.get<std::uint64_t>();
}

/// The largest but `issued`, as a share of `whole`; without a whole, of all of them.
HotReason main_reason(const Counts& counts, std::uint64_t whole = 0) {
  HotReason out;
  std::uint64_t maximum = 0, all = 0;
  for (const auto& [name, n] : counts) {
    all += n;
    if (name == stats::kIssuedTerm.name || n <= maximum) continue;
    maximum = n;
    out.name = name;
  }
  out.share = part_of(maximum, whole == 0 ? all : whole);
  return out;
}

bool is_corun(const Json& result) { return !member(result, "tenants").empty(); }

std::uint64_t launches_estimated(const Json& result) {
  return number_at(member(result, "sampling"), "launches_estimated");
}

/// Kernels are those that were timed, and so must be what they are a share of.
std::uint64_t timed_cycles(const Json& result) {
  return number_at(launches_estimated(result) == 0
                       ? member(result, "totals")
                       : member(member(result, "sampling"), "timed_totals"),
                   "cycles");
}

std::vector<HotKernel> kernels_of(const Json& result, std::uint64_t cycles) {
  std::vector<HotKernel> out;
  std::vector<Counts> stalls;
  std::map<std::string, std::size_t> places;
  for (const char* list : {"kernels", "kernels_by_name"})
    for (const Json& kernel : member(result, list)) {
      const auto name = kernel.at("name").get<std::string>();
      const auto [at, fresh] = places.try_emplace(name, out.size());
      if (fresh) {
        out.push_back({.name = name});
        stalls.emplace_back();
      }
      HotKernel& row = out[at->second];
      row.launches += member(kernel, "launches").is_number() ? number_at(kernel, "launches") : 1;
      row.amount += number_at(kernel, "cycles");
      sum_counts(stalls[at->second], member(kernel, "stalls"));
    }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].share = part_of(out[i].amount, cycles);
    out[i].lost_to = main_reason(stalls[i]);
  }
  sort_stably(out, &HotKernel::amount, std::greater{});
  return out;
}

std::vector<HotKernel> tenants_of(const Json& result) {
  std::vector<HotKernel> out;
  std::uint64_t all = 0;
  for (const Json& tenant : member(result, "tenants")) {
    Counts stalls;
    if (const Json& counts = member(tenant, "stalls"); counts.is_object())
      for (const auto& [name, n] : counts.items())
        if (n.is_number()) stalls[name] += n.get<std::uint64_t>();
    stalls[std::string(stats::kIssuedTerm.name)] = number_at(tenant, "warp_instructions");
    out.push_back({.name = tenant.at("name").get<std::string>(),
                   .launches = number_at(tenant, "kernels_completed"),
                   .amount = number_at(tenant, "warp_instructions"),
                   .lost_to = main_reason(stalls)});
    all += out.back().amount;
  }
  for (HotKernel& row : out) row.share = part_of(row.amount, all);
  sort_stably(out, &HotKernel::amount, std::greater{});
  return out;
}

/// A line of a CUDA source may be part of several kernels, one of the PTX of one.
struct LineSums {
  std::vector<std::string> kernels;
  SourceLine row;
};

std::vector<LineSums> sums_of_lines(const Json& kernels) {
  std::vector<LineSums> out;
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> places;
  for (const auto& [name, kernel] : kernels.items())
    for (SourceLine& line : source_lines(kernel, true)) {
      const auto [at, fresh] =
          places.try_emplace({line.file.empty() ? name : "", line.file, line.line}, out.size());
      if (fresh) {
        out.push_back({{name}, std::move(line)});
        continue;
      }
      LineSums& into = out[at->second];
      into.kernels.push_back(name);
      into.row.seen += line.seen;
      into.row.awaited += line.awaited;
      for (const auto& [state, n] : line.waits) into.row.waits[state] += n;
    }
  return out;
}

std::vector<HotLine> lines_of(const Json& source) {
  std::vector<LineSums> sums = sums_of_lines(member(source, "kernels"));
  std::uint64_t all = 0;
  for (const LineSums& line : sums) all += line.row.seen;
  std::vector<HotLine> out;
  for (LineSums& line : sums)
    if (line.row.weight() != 0)  // the others are what has cost nothing
      out.push_back({.kernels = std::move(line.kernels),
                     .file = line.row.file,
                     .line = line.row.line,
                     .instruction = line.row.instruction,
                     .share = part_of(line.row.seen, all),
                     .awaited = part_of(line.row.awaited, all),
                     .waits = main_reason(line.row.waits),
                     .weight = line.row.weight()});
  sort_stably(out, &HotLine::weight, std::greater{});
  return out;
}

std::optional<double> rate(const Json& row, const char* hits, const char* pending,
                           const char* misses) {
  const std::uint64_t all = number_at(row, hits) + number_at(row, pending) + number_at(row, misses);
  if (all == 0) return std::nullopt;
  return part_of(number_at(row, hits), all);
}

std::vector<HotAllocation> allocations_of(const Json& rows) {
  std::vector<HotAllocation> out;
  std::uint64_t bytes = 0, accesses = 0;
  for (const Json& row : rows) {
    HotAllocation one;
    one.name = row.at("name").get<std::string>();
    if (member(row, "bytes").is_number()) one.bytes = number_at(row, "bytes");
    one.dram_bytes = number_at(row, "dram_read_bytes") + number_at(row, "dram_written_bytes");
    one.accesses = number_at(row, "loads") + number_at(row, "stores") + number_at(row, "atomics");
    one.l1d_hit_rate = rate(row, "l1d_hits", "l1d_pending_hits", "l1d_misses");
    one.l2_hit_rate = rate(row, "l2_hits", "l2_pending_hits", "l2_misses");
    bytes += one.dram_bytes;
    accesses += one.accesses;
    if (one.dram_bytes != 0 || one.accesses != 0) out.push_back(std::move(one));
  }
  for (HotAllocation& one : out) {
    one.dram_share = part_of(one.dram_bytes, bytes);
    one.access_share = part_of(one.accesses, accesses);
  }
  const auto size = [](const HotAllocation& one) {
    return std::pair(one.dram_bytes, one.accesses);
  };
  sort_stably(out, size, std::greater{});
  return out;
}

/// What a run has to be told so that it keeps what is not there.
std::vector<std::string> lacking_of(const Hot& hot, const Json& result) {
  // A co-run has no traffic by allocation whatever it is told (sim/profile/analysis.h).
  const bool no_rows = !hot.allocations && !hot.corun;
  std::vector<std::string> out;
  if (!hot.lines || no_rows) {
    const std::string what = hot.lines ? "allocations are"
                             : no_rows ? "lines and allocations are"
                                       : "lines are";
    const bool sampled =
        member(member(member(result, "config"), "run"), "sampling_error") != 0 &&
        member(member(member(result, "config"), "run"), "sampling_error").is_number();
    out.push_back(sampled ? what +
                                " not in this file: run again without --sampling-error and with "
                                "--report PAGE.html"
                          : what + " not in this file: add --report PAGE.html to the run");
  }
  if (const std::uint64_t left_out = number_at(result, "launches_left_out"); left_out != 0)
    out.push_back(
        fmt::format("all figures are of the first launches; {} more were not timed", left_out));
  if (launches_estimated(result) != 0)
    out.push_back(fmt::format("all figures are of the launches that were timed; {} were estimated",
                              launches_estimated(result)));
  return out;
}

Json to_json(const HotReason& reason) {
  if (reason.name.empty()) return nullptr;
  return {{"reason", reason.name}, {"share", reason.share}};
}

Json to_json(const HotKernel& row, bool tenant) {
  return {{"name", row.name},
          {tenant ? "kernels_completed" : "launches", row.launches},
          {tenant ? "warp_instructions" : "cycles", row.amount},
          {"share", row.share},
          {"most_lost_to", to_json(row.lost_to)}};
}

Json to_json(const HotLine& row) {
  return {{"file", row.file.empty() ? Json() : Json(row.file)},
          {"line", row.line},
          {"instruction", row.instruction.empty() ? Json() : Json(row.instruction)},
          {"kernels", row.kernels},
          {"share", row.share},
          {"awaited", row.awaited},
          {"most_waits_for", to_json(row.waits)}};
}

Json to_json(const HotAllocation& row) {
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"name", row.name},
          {"bytes", known(row.bytes)},
          {"dram_bytes", row.dram_bytes},
          {"dram_share", row.dram_share},
          {"accesses", row.accesses},
          {"access_share", row.access_share},
          {"l1d_hit_rate", known(row.l1d_hit_rate)},
          {"l2_hit_rate", known(row.l2_hit_rate)}};
}

/// The first `top` of a list as JSON.
template <class Row, class ToJson>
Json first_of(const std::vector<Row>& rows, std::size_t top, ToJson to) {
  Json out = Json::array();
  for (std::size_t i = 0; i < rows.size() && (top == 0 || i < top); ++i) out.push_back(to(rows[i]));
  return out;
}

}  // namespace

std::string why_not_hot(const Json& result) {
  const bool timed = member(result, "timed") == true && timed_cycles(result) != 0;
  return timed ? "" : "a result that was timed; found one that was run without timing";
}

Hot hot_of(const Json& result) {
  Hot out;
  out.cycles = timed_cycles(result);
  out.corun = is_corun(result);
  Counts stalls;
  sum_counts(stalls, member(result, "stalls"));
  const std::uint64_t all =
      out.cycles * std::max<std::uint64_t>(1, number_at(result, "schedulers"));
  out.issued = part_of(stalls[std::string(stats::kIssuedTerm.name)], all);
  out.lost_to = main_reason(stalls, all);
  out.kernels = out.corun ? tenants_of(result) : kernels_of(result, out.cycles);
  const Json& analysis = member(result, "analysis");
  if (const Json& source = member(analysis, "source"); source.is_object())
    out.lines = lines_of(source);
  if (const Json& rows = member(member(analysis, "allocations"), "rows"); rows.is_array())
    out.allocations = allocations_of(rows);
  out.lacking = lacking_of(out, result);
  return out;
}

Json to_json(const Hot& hot, std::size_t top) {
  const auto line = [](const HotLine& row) { return to_json(row); };
  const auto allocation = [](const HotAllocation& row) { return to_json(row); };
  const auto kernel = [&](const HotKernel& row) { return to_json(row, hot.corun); };
  Json of;
  of[hot.corun ? "tenants" : "kernels"] = hot.kernels.size();
  of["lines"] = hot.lines ? Json(hot.lines->size()) : Json();
  of["allocations"] = hot.allocations ? Json(hot.allocations->size()) : Json();
  Json out = {{"cycles", hot.cycles},
              {"issued_share", hot.issued},
              {"most_lost_to", to_json(hot.lost_to)},
              {"of", std::move(of)}};
  out[hot.corun ? "tenants" : "kernels"] = first_of(hot.kernels, top, kernel);
  out["lines"] = hot.lines ? first_of(*hot.lines, top, line) : Json();
  out["allocations"] = hot.allocations ? first_of(*hot.allocations, top, allocation) : Json();
  out["lacking"] = hot.lacking;
  return out;
}

}  // namespace raddle::report
