#include "raddle/lab/file/short_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "raddle/base/json.h"
#include "raddle/base/student.h"
#include "raddle/config/tree.h"
#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/section.h"
#include "raddle/lab/file/sweep_text.h"

namespace raddle::lab {

namespace {

constexpr std::string_view kWorkloadPrefix = "workload.";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A name for `text` that is still free: "gto_swl_limit_4".
std::string free_name(const Experiment& e, const std::string& text) {
  std::string name;
  for (const char c : text)
    if (is_plain(c)) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  while (name.ends_with('_')) name.pop_back();
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name = "x" + name;
  std::string out = name;
  for (unsigned i = 2; !is_name(out) || e.find(out) != nullptr; ++i)
    out = fmt::format("{}_{}", name, i);
  return out;
}

/// A value as an option has it.
Json value_of(const std::string& text, const Place& place) {
  config::Tree tree;
  tree.set("value", text, place.file);
  const auto value = scalar(*tree.find("value"));
  if (!value) throw InputError(place, "expected a number or a text, found '" + text + "'");
  return *value;
}

/// Points are told apart as doubles.
void check_exact(const Json& value, const std::string& path, const Place& place) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kExact)
    throw InputError(place, fmt::format("{}: expected at most {} along an axis, found {}", path,
                                        kExact, value.get<std::uint64_t>()));
}

void add(Experiment& e, const std::string& name, NameKind kind, std::size_t index) {
  e.names.emplace(name, Symbol{kind, index});
}

}  // namespace

std::size_t define_workload(Experiment& experiment, const PlacedText& text, Scale scale) {
  Workload out;
  out.title = text.text;
  out.place = text.place;
  std::vector<std::string> words = split_command(text.text);
  const bool program = !words.empty() && words.front() == "--";
  if (program) words.erase(words.begin());
  if (words.empty()) throw InputError(text.place, "expected a workload, found nothing");
  const std::string& first = words.front();
  out.name = free_name(experiment, std::filesystem::path(first).stem().string());
  const bool recording = first.ends_with(".rdl") || first.ends_with(".g");
  if (program || recording) {
    ExternalProgram external;
    external.place = text.place;
    external.folder = std::filesystem::path(text.place.file).parent_path();
    if (program) external.command = words;
    else external.file = text.text;
    out.external = std::move(external);
  } else {
    out.workload = first;
    std::map<std::string, std::string> said;
    if (!first.ends_with(".ptx"))
      out.parameters.push_back({"size", scale == Scale::Quick ? "small" : "paper", text.place});
    for (const std::string& word : std::span(words).subspan(1)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos)
        throw InputError(text.place,
                         "expected KEY=VALUE behind the workload, found '" + word + "'");
      const std::string key = word.substr(0, equals);
      if (const auto [other, fresh] = said.emplace(key, word); !fresh)
        throw InputError(text.place,
                         "'" + other->second + "' says that already: leave '" + word + "' out");
      std::erase_if(out.parameters, [&](const Setting& s) { return s.path == key; });
      out.parameters.push_back({key, value_of(word.substr(equals + 1), text.place), text.place});
    }
  }
  add(experiment, out.name, NameKind::Workload, experiment.workloads.size());
  experiment.workloads.push_back(std::move(out));
  return experiment.workloads.size() - 1;
}

std::size_t define_variant(Experiment& e, const PlacedText& text) {
  Variant out;
  out.name = free_name(e, text.text);
  out.title = text.text;
  out.place = text.place;
  for (std::size_t at = 0; at <= text.text.size();) {
    const std::size_t end = std::min(text.text.find('+', at), text.text.size());
    out.policies.push_back({text.text.substr(at, end - at), text.place});
    at = end + 1;
  }
  add(e, out.name, NameKind::Variant, e.variants.size());
  e.variants.push_back(std::move(out));
  return e.variants.size() - 1;
}

std::size_t define_axis(Experiment& e, const PlacedText& text) {
  const SweepText sweep = read_sweep(text.text, text.place.file);
  const bool of_workload = sweep.path.starts_with(kWorkloadPrefix);
  const std::string path = of_workload ? sweep.path.substr(kWorkloadPrefix.size()) : sweep.path;
  Axis out;
  out.name = free_name(e, path.substr(path.rfind('.') + 1));
  out.title = sweep.path;
  out.place = text.place;
  for (const std::string& value : sweep.values) {
    const Json json = value_of(value, text.place);
    check_exact(json, sweep.path, text.place);
    AxisPoint point;
    if (json.is_number()) point.value = json.get<double>();
    else {
      point.value = value;
      out.scale = AxisScale::Category;
    }
    (of_workload ? point.parameters : point.set).push_back({path, json, text.place});
    out.points.push_back(std::move(point));
  }
  add(e, out.name, NameKind::Axis, e.axes.size());
  e.axes.push_back(std::move(out));
  return e.axes.size() - 1;
}

namespace {

template <class T>
std::string names_of(const std::vector<T>& all, const std::vector<std::size_t>& which,
                     const char* quote) {
  std::string out;
  for (const std::size_t i : which)
    out += (out.empty() ? "" : ", ") + (quote + all[i].name) + quote;
  return out;
}

std::string figure(const std::string& title, const std::string& unit, const std::string& rest,
                   const std::string& value) {
  return fmt::format("[[figures]]\ntitle = {}\ny = {{ label = {} }}\n{}value = \"{}\"\n",
                     json_dump(Json(title)), json_dump(Json(unit)), rest, value);
}

/// Where figures along the first axis stand on the others.
struct Fixed {
  std::string pins;   ///< ", count=4", for an expression
  std::string words;  ///< ", sm.count = 4", for a title
};

/// More figures than these nobody reads: the tables of results have them.
constexpr std::size_t kMaxFixed = 16;

/// Texts with quotes in them cannot be written in an expression, nor empty ones.
bool can_be_pinned(const AxisPoint& point) {
  const auto* text = std::get_if<std::string>(&point.value);
  return text == nullptr || (!text->empty() && text->find_first_of("'\"\\") == text->npos);
}
/// "count=4", "arbiter='age'"
std::string pin(const Axis& axis, const AxisPoint& point) {
  const char* const quote = std::holds_alternative<double>(point.value) ? "" : "'";
  return fmt::format("{}={}{}{}", axis.name, quote, shown(point.value), quote);
}
bool can_be_pinned(const Experiment& e, const RunBlock& block) {
  return block.axes.empty() ||
         std::ranges::all_of(std::span(block.axes).subspan(1), [&](std::size_t a) {
           return std::ranges::all_of(e.axes[a].points,
                                      [](const AxisPoint& point) { return can_be_pinned(point); });
         });
}

/// Every combination of points of the axes behind the first; the first kMaxFixed of them.
std::vector<Fixed> fixed_points(const Experiment& e, const RunBlock& block) {
  std::vector<Fixed> out{{}};
  for (const std::size_t a : std::span(block.axes).subspan(1)) {
    std::vector<Fixed> longer;
    for (const Fixed& before : out)
      for (const AxisPoint& point : e.axes[a].points) {
        longer.push_back(
            {", " + pin(e.axes[a], point) + before.pins,
             before.words + fmt::format(", {} = {}", e.axes[a].title, shown(point.value))});
      }
    out = std::move(longer);
    if (out.size() > kMaxFixed) out.resize(kMaxFixed);
  }
  return out;
}

/// Another seed is another input.
bool sets_seed(const Settings& settings) {
  return std::ranges::find(settings, "run.seed", &Setting::path) != settings.end();
}
bool is_of_seeds(const Axis& axis) {
  return std::ranges::all_of(axis.points,
                             [](const AxisPoint& point) { return sets_seed(point.set); });
}
/// Do its points differ in what is computed? Nothing is compared across them then.
bool changes_work(const Axis& axis) {
  return std::ranges::any_of(axis.points, [](const AxisPoint& point) {
    return sets_seed(point.set) || !point.parameters.empty();
  });
}
bool changes_work(const Experiment& e, const RunBlock& block) {
  return std::ranges::any_of(block.variants,
                             [&](std::size_t v) { return sets_seed(e.variants[v].set); });
}

/// How much sooner a run ends than the one that `base` pins, `at` the pins of both: in time, as
/// cycles of different clocks are not of one length.
std::string speedup_over(const std::string& base, const std::string& at) {
  return fmt::format(
      "totals.cycles[{0}] / totals.cycles{1} * (config.core_clock_mhz{1} / "
      "config.core_clock_mhz[{0}])",
      base, at);
}

/// Along the first axis; of several workloads the geometric mean.
std::string along_axis(const Experiment& experiment, const RunBlock& block, const Fixed& fixed) {
  const Axis& axis = experiment.axes[block.axes.front()];
  RADDLE_ASSERT(!block.variants.empty() && !axis.points.empty());
  const Variant& base = experiment.variants[block.variants.front()];
  const std::string over = names_of(experiment.workloads, block.workloads, ""),
                    rest = fmt::format("type = \"lines\"\nx = \"{}\"\nseries = [{}]\n", axis.name,
                                       names_of(experiment.variants, block.variants, "\""));
  const std::string mean = block.workloads.size() > 1 ? ", geometric mean" : "";
  // Of what is drawn only the other axes are named; a lone pin has no comma before it.
  const std::string at = fixed.pins.empty() ? "" : "[" + fixed.pins.substr(2) + "]";
  std::string out;
  const AxisPoint& first = axis.points.front();
  const bool comparable = !changes_work(experiment, block);
  if (comparable && changes_work(axis)) {
    if (block.variants.size() > 1)
      out += figure(
          fmt::format("Speed-up over {} of the same {}{}{}", base.title,
                      is_of_seeds(axis) ? "seed" : axis.title, fixed.words, mean),
          "speed-up", rest,
          fmt::format("gmean({} over {{{}}})", speedup_over(base.name + fixed.pins, at), over));
  } else if (comparable && can_be_pinned(first)) {
    out += figure(
        fmt::format("Speed-up over {} at {} = {}{}{}", base.title, axis.title, shown(first.value),
                    fixed.words, mean),
        "speed-up", rest,
        fmt::format("gmean({} over {{{}}})",
                    speedup_over(base.name + ", " + pin(axis, first) + fixed.pins, at), over));
  }
  return out + figure("IPC" + fixed.words + mean, "thread instructions per cycle", rest,
                      fmt::format("gmean(totals.ipc{} over {{{}}})", at, over));
}

std::string by_workload(const Experiment& e, const RunBlock& block) {
  const Variant& base = e.variants[block.variants.front()];
  const std::string rest = fmt::format("type = \"bars\"\nx = [{}]\n{}series = [{}]\n",
                                       names_of(e.workloads, block.workloads, "\""),
                                       block.workloads.size() > 1 ? "means = [\"gmean\"]\n" : "",
                                       names_of(e.variants, block.variants, "\""));
  std::string out;
  if (block.variants.size() > 1 && !changes_work(e, block))
    out += figure("Speed-up over " + base.title, "speed-up", rest, speedup_over(base.name, ""));
  return out + figure("IPC", "thread instructions per cycle", rest, "totals.ipc");
}

/// Standard deviation of a sample: of the `n` values that `value` has where `over` says. The
/// variance from two means may come out below zero by rounding.
std::string deviation(const std::string& value, const std::string& over, std::size_t n) {
  return fmt::format(
      "sqrt(max(0, (amean(({0}) * ({0}){1} - amean({0}{1} * amean({0}{1}) * {2} / {3}))", value,
      over, n, n - 1);
}

/// Bars of each workload: the mean over the seeds, its 95 % interval (Student's t, of the
/// logarithms, as report/seeds.h has it), how far single ones lie from it, the least and the most.
std::string over_seeds(const Experiment& e, const RunBlock& block) {
  const Axis& seeds = e.axes[block.axes.front()];
  const Variant& base = e.variants[block.variants.front()];
  const std::string rest = fmt::format("type = \"bars\"\nx = [{}]\nseries = [{}]\n",
                                       names_of(e.workloads, block.workloads, "\""),
                                       names_of(e.variants, block.variants, "\""));
  const std::size_t n = seeds.points.size();
  const std::string of = fmt::format("of {} seeds", n), over = " over " + seeds.name + ")";
  std::string out = figure("Cycles, mean " + of, "cycles", rest, "amean(totals.cycles" + over);
  if (block.variants.size() < 2 || changes_work(e, block)) return out;
  const std::string ratio = speedup_over(base.name, ""),
                    title = "Speed-up over " + base.title + " of the same seed, ",
                    mean = "gmean(" + ratio + over,
                    reach = fmt::format("exp2({} / sqrt({}) * {})", student_t(n - 1), n,
                                        deviation("log2(" + ratio + ")", over, n)),
                    interval = " end of the 95 % interval (Student's t) ";
  return out + figure(title + "geometric mean " + of, "speed-up", rest, mean) +
         figure(title + "low" + interval + of, "speed-up", rest, mean + " / " + reach) +
         figure(title + "high" + interval + of, "speed-up", rest, mean + " * " + reach) +
         figure(title + "standard deviation " + of, "speed-up", rest, deviation(ratio, over, n)) +
         figure(title + "minimum " + of, "speed-up", rest, "min(" + ratio + over) +
         figure(title + "maximum " + of, "speed-up", rest, "max(" + ratio + over);
}

/// Are there several seeds, and nothing else along an axis?
bool only_seeds(const Experiment& e, const RunBlock& block) {
  return block.axes.size() == 1 && is_of_seeds(e.axes[block.axes.front()]) &&
         e.axes[block.axes.front()].points.size() > 1;
}

}  // namespace

std::string default_figures(const Experiment& e) {
  std::string out;
  if (e.corun) return out;
  for (const RunBlock& block : e.runs) {
    if (block.workloads.empty() || block.variants.empty()) continue;
    if (!can_be_pinned(e, block)) continue;
    if (block.axes.empty()) out += by_workload(e, block);
    else if (only_seeds(e, block)) out += over_seeds(e, block);
    if (!block.axes.empty() && !e.axes[block.axes.front()].points.empty())
      for (const Fixed& fixed : fixed_points(e, block)) out += along_axis(e, block, fixed);
  }
  return out;
}

std::string id_from(const std::string& name) {
  std::string out;
  for (const char c : name) out += is_plain(c) || c == '.' || c == '_' || c == '-' ? c : '_';
  while (out.starts_with('.')) out.erase(0, 1);
  while (out.ends_with('.')) out.pop_back();
  return out.empty() ? "sweep" : out.substr(0, 64);
}

}  // namespace raddle::lab
