#include "raddle/report/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/stable_sort.h"
#include "raddle/report/breakdown.h"
#include "raddle/report/json_member.h"
#include "raddle/stats/terms.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// Parts of one waterfall that are shown one by one.
constexpr std::size_t kMaxParts = 12, kMaxKernelParts = 40;

/// 0 where there is none: results of older programs lack some.
std::int64_t count(const Json& of, std::string_view key) {
  const Json& value = member(of, key);
  return value.is_number() ? value.get<std::int64_t>() : 0;
}

/// What a kernel, a reason or an allocation has in A ([0]) and in B ([1]).
using Both = std::array<std::int64_t, 2>;

/// In order of first appearance, A first.
class ByName {
 public:
  Both& operator[](const std::string& name) {
    const auto [at, fresh] = places_.try_emplace(name, parts_.size());
    if (fresh) parts_.push_back({name, name, 0, 0});
    return values_.try_emplace(name, Both{}).first->second;
  }
  void call(const std::string& name, const std::string& title) {
    parts_[places_.at(name)].title = title;
  }
  std::vector<DifferencePart> take() {
    for (DifferencePart& part : parts_) {
      part.a = values_.at(part.name)[0];
      part.b = values_.at(part.name)[1];
    }
    return std::move(parts_);
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::map<std::string, Both> values_;
  std::vector<DifferencePart> parts_;
};

bool nothing(const DifferencePart& part) { return part.a == 0 && part.b == 0; }

/// The smallest of the parts as one, so that there are at most `maximum`.
void sum_smallest(std::vector<DifferencePart>& parts, std::size_t maximum,
                  std::string_view others) {
  if (parts.size() <= maximum) return;
  DifferencePart rest{"", fmt::format("{} {}", parts.size() - maximum + 1, others), 0, 0};
  double squares = 0;
  for (const DifferencePart& part : std::span(parts).subspan(maximum - 1)) {
    rest.a += part.a;
    rest.b += part.b;
    squares += part.error * part.error;
    rest.sums += part.difference() != 0;
  }
  rest.error = std::sqrt(squares);
  parts.resize(maximum - 1);
  parts.push_back(std::move(rest));
}

DifferencePart sum_of(const std::vector<DifferencePart>& parts) {
  DifferencePart out{"", "", 0, 0};
  for (const DifferencePart& part : parts) {
    out.a += part.a;
    out.b += part.b;
  }
  return out;
}

/// Sorts, sums what is beyond the limit, appends `left` (which has no name) and, titled `missing`,
/// what the whole has besides; holds that all of it sums.
Waterfall closed(Waterfall whole, std::vector<DifferencePart> left, std::string_view missing,
                 std::string_view others, std::size_t maximum = kMaxParts) {
  std::vector<DifferencePart>& parts = whole.parts;
  std::erase_if(parts, nothing);
  const auto size = [](const DifferencePart& part) {
    return std::pair(std::abs(part.difference()), std::max(part.a, part.b));
  };
  sort_stably(parts, size, std::greater{});
  sum_smallest(parts, maximum, others);
  std::ranges::move(left, std::back_inserter(parts));
  const DifferencePart sum = sum_of(parts);
  parts.push_back({"", std::string(missing), whole.a - sum.a, whole.b - sum.b});
  std::erase_if(parts, nothing);
  const DifferencePart all = sum_of(parts);
  RADDLE_ASSERT(all.a == whole.a && all.b == whole.b);
  return whole;
}

/// `weights` over `divisor` as whole numbers: not they are rounded down, but their sums so far.
std::vector<std::int64_t> divided(std::span<const std::int64_t> weights, std::int64_t divisor) {
  std::vector<std::int64_t> out;
  std::int64_t sum = 0, before = 0;
  for (const std::int64_t weight : weights) {
    sum += weight;
    out.push_back(sum / divisor - before);
    before = sum / divisor;
  }
  return out;
}

/// The launches of a kernel together, as `kernels` and `kernels_by_name` of a result have them.
struct KernelSums {
  std::int64_t cycles = 0, execution = 0, dram_bytes = 0, l1d_misses = 0, launches = 0;
  bool has_stalls = false;
  std::map<std::string, std::int64_t> stalls, refused;
};

struct Side {
  const Json* result = nullptr;
  std::int64_t cycles = 0, schedulers = 1;
  std::vector<std::string> order;
  std::map<std::string, KernelSums> kernels;

  const KernelSums& of(const std::string& name) const {
    static const KernelSums kNone;
    const auto at = kernels.find(name);
    return at == kernels.end() ? kNone : at->second;
  }
};

void add_kernel(Side& side, const Json& kernel) {
  const auto name = kernel.at("name").get<std::string>();
  if (!side.kernels.contains(name)) side.order.push_back(name);
  KernelSums& sums = side.kernels[name];
  const std::int64_t cycles = count(kernel, "cycles");
  sums.cycles += cycles;
  // Where it is not known, all of it.
  sums.execution +=
      member(kernel, "execution_cycles").is_number() ? count(kernel, "execution_cycles") : cycles;
  sums.dram_bytes += count(kernel, "dram_bytes");
  sums.l1d_misses += count(member(kernel, "details"), "l1d_misses");
  sums.launches += member(kernel, "launches").is_number() ? count(kernel, "launches") : 1;
  const Json& stalls = member(kernel, "stalls");
  sums.has_stalls = stalls.is_object();
  for (const auto& [reason, n] : stalls.items()) sums.stalls[reason] += n.get<std::int64_t>();
  const Json& refused = member(member(kernel, "details"), "l1d_refused");
  for (const auto& [cause, n] : refused.items()) sums.refused[cause] += n.get<std::int64_t>();
}

Side side_of(const Json& result) {
  Side out;
  out.result = &result;
  out.cycles = count(member(result, "totals"), "cycles");
  out.schedulers = std::max<std::int64_t>(1, count(result, "schedulers"));
  for (const char* list : {"kernels", "kernels_by_name"})
    for (const Json& kernel : member(result, list)) add_kernel(out, kernel);
  return out;
}

/// Cycles in which some launch was under way; nothing where launches are told by sums.
std::optional<std::int64_t> cycles_under_way(const Json& result) {
  const Json& kernels = member(result, "kernels");
  if (kernels.empty() || !member(result, "kernels_by_name").empty()) return std::nullopt;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const Json& kernel : kernels)
    spans.emplace_back(count(kernel, "start_cycle"), count(kernel, "end_cycle"));
  std::ranges::sort(spans);
  std::int64_t sum = 0, until = 0;
  for (const auto& [start, end] : spans) {
    const std::int64_t from = std::max(start, until);
    sum += std::max(end, from) - from;
    until = std::max(until, end);
  }
  return sum;
}

std::vector<std::string> names_of(const Side& a, const Side& b) {
  std::vector<std::string> out = a.order;
  for (const std::string& name : b.order)
    if (!a.kernels.contains(name)) out.push_back(name);
  return out;
}

Waterfall by_kernel(const Side& a, const Side& b) {
  std::vector<DifferencePart> parts, left;
  DifferencePart all{"", "", 0, 0};
  for (const std::string& name : names_of(a, b)) {
    parts.push_back({name, short_name(name), a.of(name).cycles, b.of(name).cycles});
    all.a += parts.back().a;
    all.b += parts.back().b;
  }
  const auto busy_a = cycles_under_way(*a.result), busy_b = cycles_under_way(*b.result);
  if (busy_a && busy_b) {
    left.push_back({"", "counted twice where launches overlap", *busy_a - all.a, *busy_b - all.b});
    return closed({a.cycles, b.cycles, std::move(parts)}, std::move(left), "no launch under way",
                  "other kernels", kMaxKernelParts);
  }
  return closed({a.cycles, b.cycles, std::move(parts)}, {}, "between kernels, less what overlaps",
                "other kernels", kMaxKernelParts);
}

std::string reason_title(const std::string& reason) {
  if (reason == stats::kIssuedTerm.name) return std::string(stats::kIssuedTerm.title);
  for (const stats::Term& term : stats::kStallTerms)
    if (term.name == reason) return std::string(term.title);
  return reason;
}

/// Adds scheduler-cycles of one side as cycles: those of all schedulers in one cycle are one cycle.
void add_reasons(ByName& into, std::size_t side, const std::map<std::string, std::int64_t>& stalls,
                 std::int64_t schedulers) {
  std::vector<std::int64_t> weights;
  for (const auto& [reason, n] : stalls) weights.push_back(n);
  const std::vector<std::int64_t> cycles = divided(weights, schedulers);
  std::size_t i = 0;
  for (const auto& [reason, n] : stalls) {
    into[reason][side] += cycles[i++];
    into.call(reason, reason_title(reason));
  }
}

std::map<std::string, std::int64_t> stalls_of(const Json& result) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [reason, n] : member(result, "stalls").items())
    out[reason] = n.get<std::int64_t>();
  return out;
}

Waterfall by_reason(const Side& a, const Side& b) {
  ByName reasons;
  add_reasons(reasons, 0, stalls_of(*a.result), a.schedulers);
  add_reasons(reasons, 1, stalls_of(*b.result), b.schedulers);
  return closed({a.cycles, b.cycles, reasons.take()}, {}, "not counted", "other reasons");
}

Waterfall schedulers_of(const KernelSums& a, std::int64_t schedulers_a, const KernelSums& b,
                        std::int64_t schedulers_b) {
  Waterfall out{a.cycles, b.cycles, {}};
  if ((a.launches != 0 && !a.has_stalls) || (b.launches != 0 && !b.has_stalls)) return out;
  ByName reasons;
  add_reasons(reasons, 0, a.stalls, schedulers_a);
  add_reasons(reasons, 1, b.stalls, schedulers_b);
  DifferencePart outside{"", "before its first block and after its last", a.cycles - a.execution,
                         b.cycles - b.execution};
  return closed({a.cycles, b.cycles, reasons.take()}, {std::move(outside)},
                "no warp of it on the scheduler", "other reasons");
}

Waterfall refused_of(const KernelSums& a, const KernelSums& b) {
  ByName causes;
  Both all{};
  for (const auto& [side, sums] : {std::pair(0u, &a), std::pair(1u, &b)})
    for (const auto& [cause, n] : sums->refused) {
      causes[cause][side] += n;
      all[side] += n;
      for (const stats::Term& term : stats::kRefusalTerms)
        if (term.name == cause) causes.call(cause, std::string(term.title));
    }
  return closed({all[0], all[1], causes.take()}, {}, "", "other causes");
}

const Json& allocation_rows(const Json& result) {
  return member(member(member(result, "analysis"), "allocations"), "rows");
}

/// "allocation 2 (65,536 bytes), kmeans_layout 1": the first argument that points into it.
std::string allocation_title(const Json& row, const std::string& kernel) {
  std::string out = row.at("name").get<std::string>();
  const Json& places = member(member(row, "arguments"), kernel);
  if (places.is_array() && !places.empty() && places.front().is_number())
    out += fmt::format(" (argument {})", places.front().get<std::int64_t>());
  return out;
}

/// Rows with the same name and size are one another's, whatever their addresses.
std::optional<Waterfall> by_allocation(const Side& a, const Side& b, const std::string& kernel,
                                       std::span<const std::string_view> figures, Both whole) {
  ByName rows;
  for (const auto& [side, of] : {std::pair(0u, &a), std::pair(1u, &b)}) {
    const Json& all = allocation_rows(*of->result);
    if (!all.is_array()) return std::nullopt;
    std::map<std::string, unsigned> seen;
    for (const Json& row : all) {
      std::string key =
          fmt::format("{}\n{}", row.at("name").get<std::string>(), count(row, "bytes"));
      if (const unsigned before = seen[key]++; before != 0) key += fmt::format("\n{}", before);
      const Json& traffic = member(member(row, "kernels"), kernel);
      if (!traffic.is_object()) continue;
      for (const std::string_view figure : figures) rows[key][side] += count(traffic, figure);
      rows.call(key, allocation_title(row, kernel));
    }
  }
  return closed({whole[0], whole[1], rows.take()}, {}, "of no allocation", "other allocations");
}

/// Warps that looks have seen at the lines of one kernel.
struct SeenLines {
  std::map<std::string, std::int64_t> warps;
  std::map<std::string, std::string> titles;
  std::int64_t all = 0;
};

void add_line(SeenLines& into, const Json& line, const std::string& file, bool of_source) {
  std::int64_t warps = 0;
  for (const auto& [state, n] : member(line, "warps").items()) warps += n.get<std::int64_t>();
  const Json& source = member(line, "source");
  const bool named = of_source && source.is_object();
  const std::string where = named ? source.at("file").get<std::string>() : file;
  const std::int64_t number = count(named ? source : line, "line");
  const std::string key = fmt::format("{}:{}", where, number);
  into.warps[key] += warps;
  into.all += warps;
  const std::string name = where.substr(where.rfind('/') + 1);
  into.titles[key] = fmt::format("{}:{}", name.empty() ? "PTX" : name, number);
  if (!named && member(line, "instruction").is_string())
    into.titles[key] += " " + line.at("instruction").get<std::string>();
}

bool names_sources(const Json& lines) {
  return std::ranges::any_of(lines,
                             [](const Json& line) { return member(line, "source").is_object(); });
}

/// Kernels of one name in several files are "name" and "name (file)".
std::vector<const Json*> profiles_of(const Json& result, const std::string& kernel) {
  std::vector<const Json*> out;
  for (const auto& [name, profile] :
       member(member(member(result, "analysis"), "source"), "kernels").items())
    if (name == kernel || name.starts_with(kernel + " (")) out.push_back(&profile);
  return out;
}

std::int64_t looks_of(const Json& result) {
  return count(member(member(result, "analysis"), "source"), "looks");
}

SeenLines lines_of(const Json& result, const std::string& kernel, bool of_source) {
  SeenLines out;
  for (const Json* profile : profiles_of(result, kernel))
    for (const Json& line : member(*profile, "lines"))
      add_line(out, line, profile->value("file", std::string()), of_source);
  return out;
}

/// At most the standard error of a line's part of `cycles`: looks as independent, and all warps of
/// a look as if they stood alike. A share of a look lies in 0 to 1, and so its variance is at most
/// p (1 - p) (Bhatia and Davis, American Mathematical Monthly 107, 2000).
double error_of(double share, std::int64_t cycles, std::int64_t run_cycles, std::int64_t looks) {
  const double part = static_cast<double>(cycles) /
                      static_cast<double>(std::max<std::int64_t>(1, std::max(cycles, run_cycles)));
  const double within = std::max(1.0, part * static_cast<double>(looks));
  return static_cast<double>(cycles) * std::sqrt(std::max(0.0, share * (1 - share)) / within);
}

struct LinePart {
  std::int64_t cycles = 0;
  double error = 0;
};

std::map<std::string, LinePart> parts_of_lines(const SeenLines& lines, std::int64_t cycles,
                                               const Side& side) {
  std::map<std::string, LinePart> out;
  std::int64_t sum = 0, before = 0;
  for (const auto& [key, warps] : lines.warps) {
    sum += warps;
    const double share = static_cast<double>(sum) / static_cast<double>(lines.all);
    const std::int64_t until =
        sum == lines.all ? cycles : std::llround(share * static_cast<double>(cycles));
    out[key] = {until - before,
                error_of(static_cast<double>(warps) / static_cast<double>(lines.all), cycles,
                         side.cycles, looks_of(*side.result))};
    before = until;
  }
  return out;
}

std::optional<Waterfall> by_line(const Side& a, const Side& b, const std::string& kernel) {
  const auto named = [&](const Side& side) {
    const auto profiles = profiles_of(*side.result, kernel);
    return std::ranges::any_of(
        profiles, [](const Json* profile) { return names_sources(member(*profile, "lines")); });
  };
  const bool of_source = named(a) && named(b);
  const SeenLines seen_a = lines_of(*a.result, kernel, of_source),
                  seen_b = lines_of(*b.result, kernel, of_source);
  if (seen_a.all == 0 || seen_b.all == 0) return std::nullopt;
  const KernelSums &sums_a = a.of(kernel), &sums_b = b.of(kernel);
  const auto parts_a = parts_of_lines(seen_a, sums_a.execution, a),
             parts_b = parts_of_lines(seen_b, sums_b.execution, b);
  std::map<std::string, std::string> titles = seen_a.titles;
  titles.insert(seen_b.titles.begin(), seen_b.titles.end());
  std::vector<DifferencePart> parts;
  for (const auto& [key, title] : titles) {
    const auto at_a = parts_a.find(key), at_b = parts_b.find(key);
    const LinePart one = at_a == parts_a.end() ? LinePart{} : at_a->second,
                   other = at_b == parts_b.end() ? LinePart{} : at_b->second;
    parts.push_back({key, title, one.cycles, other.cycles, std::hypot(one.error, other.error)});
  }
  return closed({sums_a.cycles, sums_b.cycles, std::move(parts)}, {},
                "before its first block and after its last", "other lines");
}

KernelDifference difference_in(const Side& a, const Side& b, const std::string& kernel) {
  constexpr std::string_view kBytes[] = {"dram_read_bytes", "dram_written_bytes"},
                             kMisses[] = {"l1d_misses"};
  const KernelSums &sums_a = a.of(kernel), &sums_b = b.of(kernel);
  KernelDifference out;
  out.name = kernel;
  out.title = short_name(kernel);
  out.schedulers = schedulers_of(sums_a, a.schedulers, sums_b, b.schedulers);
  out.refused = refused_of(sums_a, sums_b);
  out.dram_bytes = by_allocation(a, b, kernel, kBytes, {sums_a.dram_bytes, sums_b.dram_bytes});
  out.l1d_misses = by_allocation(a, b, kernel, kMisses, {sums_a.l1d_misses, sums_b.l1d_misses});
  out.lines = by_line(a, b, kernel);
  return out;
}

std::string both_lack(bool lacks_a, bool lacks_b) {
  return lacks_a && lacks_b ? "A and B" : lacks_a ? "A" : "B";
}

void note_what_lacks(std::vector<std::string>& out, const Side& a, const Side& b) {
  const auto no_lines = [](const Side& side) { return looks_of(*side.result) == 0; };
  const auto no_rows = [](const Side& side) { return !allocation_rows(*side.result).is_array(); };
  if (no_lines(a) || no_lines(b))
    out.push_back("no source lines in " + both_lack(no_lines(a), no_lines(b)));
  if (no_rows(a) || no_rows(b))
    out.push_back("no traffic by allocation in " + both_lack(no_rows(a), no_rows(b)));
}

std::vector<std::string> notes_of(const Side& a, const Side& b) {
  std::vector<std::string> out;
  if (const std::string work = work_that_differs(*a.result, *b.result); !work.empty())
    out.push_back("not the same work: " + work);
  const auto machine = [](const Side& side) {
    const Json& name = member(member(*side.result, "config"), "name");
    return name.is_string() ? name.get<std::string>() : "unnamed";
  };
  if (machine(a) != machine(b))
    out.push_back("not the same machine: " + machine(a) + " and " + machine(b));
  const auto clock = [](const Side& side) {
    const Json& mhz = member(member(*side.result, "config"), "core_clock_mhz");
    return mhz.is_number() ? mhz.get<double>() : 0;
  };
  if (clock(a) != clock(b))
    out.push_back(
        fmt::format("cycles are not of one length: A has {} MHz, B {} MHz", clock(a), clock(b)));
  for (const auto& [name, side] : {std::pair("A", &a), std::pair("B", &b)})
    if (member(member(*side->result, "workload"), "result") == "wrong")
      out.push_back(fmt::format("the result of {} is wrong: do not trust its cycles", name));
  const auto left_out = [](const Side& side) { return count(*side.result, "launches_left_out"); };
  if (left_out(a) != left_out(b))
    out.push_back(fmt::format("launches that were not timed: {} in A, {} in B",
                              grouped(static_cast<std::uint64_t>(left_out(a))),
                              grouped(static_cast<std::uint64_t>(left_out(b)))));
  note_what_lacks(out, a, b);
  return out;
}

Json to_json(const Waterfall& waterfall) {
  Json out = {{"a", waterfall.a}, {"b", waterfall.b}, {"parts", Json::array()}};
  for (const DifferencePart& part : waterfall.parts) {
    Json one = {{"name", part.name}, {"title", part.title}, {"a", part.a}, {"b", part.b}};
    if (part.error > 0) one["error"] = part.error;
    if (part.sums > 0) one["sums"] = part.sums;
    out["parts"].push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string why_not_explained(const Json& a, const Json& b) {
  for (const auto& [name, result] : {std::pair("A", &a), std::pair("B", &b)}) {
    if (!member(*result, "tenants").empty())
      return fmt::format("{} is a co-run, which goes on to a horizon whatever runs", name);
    if (member(*result, "timed") != true || count(member(*result, "totals"), "cycles") == 0)
      return fmt::format("{} was run without timing", name);
    if (count(member(*result, "sampling"), "launches_estimated") != 0)
      return fmt::format("launches of {} were estimated (run.sampling_error), not timed", name);
  }
  const Side side_a = side_of(a), side_b = side_of(b);
  if (side_a.order.empty() && side_b.order.empty()) return "";
  if (std::ranges::none_of(side_a.order,
                           [&](const auto& name) { return side_b.kernels.contains(name); }))
    return "no kernel is in both";
  return "";
}

Difference difference_of(const Json& a, const Json& b) {
  const Side side_a = side_of(a), side_b = side_of(b);
  Difference out;
  out.kernels = by_kernel(side_a, side_b);
  out.schedulers = by_reason(side_a, side_b);
  out.looks_a = static_cast<std::uint64_t>(looks_of(a));
  out.looks_b = static_cast<std::uint64_t>(looks_of(b));
  for (const DifferencePart& part : out.kernels.parts)
    if (!part.name.empty() && out.of_kernels.size() < Difference::kMaxKernels)
      out.of_kernels.push_back(difference_in(side_a, side_b, part.name));
  out.notes = notes_of(side_a, side_b);
  return out;
}

Json to_json(const Difference& difference) {
  Json out = {{"kernels", to_json(difference.kernels)},
              {"schedulers", to_json(difference.schedulers)},
              {"of_kernels", Json::array()},
              {"looks", {difference.looks_a, difference.looks_b}},
              {"notes", difference.notes}};
  for (const KernelDifference& kernel : difference.of_kernels) {
    Json one = {{"name", kernel.name}, {"title", kernel.title}};
    one["schedulers"] = to_json(kernel.schedulers);
    one["refused"] = to_json(kernel.refused);
    for (const auto& [name, waterfall] :
         {std::pair("dram_bytes", &kernel.dram_bytes), std::pair("l1d_misses", &kernel.l1d_misses),
          std::pair("lines", &kernel.lines)})
      one[name] = *waterfall ? to_json(**waterfall) : Json();
    out["of_kernels"].push_back(std::move(one));
  }
  return out;
}

Json difference_on_page(const Json& a, const Json& b, std::size_t base) {
  Json out = {{"base", base}};
  const auto corun = [](const Json& result) { return !member(result, "tenants").empty(); };
  if (corun(a) && corun(b)) {
    out["schedulers"] = to_json(by_reason(side_of(a), side_of(b)));
    return out;
  }
  if (const std::string why = why_not_explained(a, b); !why.empty()) out["why"] = why;
  else out.update(to_json(difference_of(a, b)));
  return out;
}

}  // namespace raddle::report
