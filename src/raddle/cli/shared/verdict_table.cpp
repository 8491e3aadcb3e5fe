#include "raddle/cli/shared/verdict_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "raddle/lab/evaluate/evaluation.h"

namespace raddle::cli {

namespace {

using lab::Json;

std::string number(const Json& value) {
  return value.is_number()   ? fmt::format("{:.4g}", value.get<double>())
         : value.is_string() ? value.get<std::string>()
                             : "-";
}

std::string text(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

}  // namespace

std::string failed_runs(const Json& experiment) {
  std::string out;
  for (const Json& failure : experiment.at("runs").at("failures"))
    out += fmt::format("      failed   {}: {}\n", text(failure, "cell"), text(failure, "error"));
  return out;
}

namespace {

/// What any policy could reach.
std::string bound_line(const Json& bound) {
  return fmt::format("               {} {}: {}{}{}\n",
                     text(bound, "is") == "at_most" ? "at most" : "at least",
                     number(bound.at("value")), text(bound, "text"),
                     text(bound, "assumes").empty() ? "" : "; assumes " + text(bound, "assumes"),
                     bound.at("exceeded").get<bool>() ? " (exceeded here: no bound)" : "");
}

/// What keeps a row from passing.
std::string faults(const Json& experiment) {
  std::string out;
  for (const Json& shape : experiment.at("shapes")) {
    if (shape.at("verdict") == "pass") continue;
    out += fmt::format("      {:<8} {}\n               {}\n", text(shape, "verdict"),
                       text(shape, "text"), text(shape, "detail"));
    if (shape.at("verdict") == lab::kRefuted)
      out += fmt::format("               {}: {}\n", text(shape.at("bound"), "text"),
                         text(shape.at("bound"), "detail"));
  }
  for (const Json& stated : experiment.at("stated")) {
    if (stated.at("within").get<bool>()) continue;
    const bool refuted = stated.value("refuted", false);
    const Json &ours = stated.at("ours"), &low = stated.at("bounds")[0],
               &high = stated.at("bounds")[1];
    // A value that is just outside of a bound must not read as the bound.
    const bool close = number(ours) == number(low) || number(ours) == number(high);
    out += fmt::format("      {:<8} {}: paper {}, here {}, allowed {} to {}\n",
                       stated.at("ours").is_null() ? "not_run"
                       : refuted                   ? lab::kRefuted
                                                   : "fail",
                       text(stated, "what"), number(stated.at("paper")),
                       close ? json_dump(ours) : number(ours), number(low), number(high));
    if (stated.contains("bound")) out += bound_line(stated.at("bound"));
  }
  return out + failed_runs(experiment);
}

std::size_t count(const Json& list, const char* key, const Json& value) {
  return static_cast<std::size_t>(
      std::ranges::count_if(list, [&](const Json& item) { return item.at(key) == value; }));
}

}  // namespace

std::string verdict_table(const Json& document) {
  const Json& experiments = document.at("experiments");
  std::size_t width = 10;
  for (const Json& e : experiments) width = std::max(width, text(e, "id").size());
  std::string out = fmt::format("{} at {}\n  {:<{}} {:<16} {:>7} {:>8} {:>10}  {}\n",
                                text(document.at("paper"), "title"), text(document, "scale"), "row",
                                width, "verdict", "shapes", "numbers", "runs", "title");
  std::map<std::string, std::size_t> verdicts;
  for (const Json& e : experiments) {
    const Json &shapes = e.at("shapes"), &stated = e.at("stated"), &runs = e.at("runs");
    ++verdicts[text(e, "status")];
    out += fmt::format(
        "  {:<{}} {:<16} {:>7} {:>8} {:>10}  {}\n", text(e, "id"), width, text(e, "status"),
        fmt::format("{}/{}", count(shapes, "verdict", "pass"), shapes.size()),
        fmt::format("{}/{}", count(stated, "within", true), stated.size()),
        fmt::format("{}/{}", number(runs.at("done")), number(runs.at("total"))), text(e, "title"));
    out += faults(e);
  }
  out += fmt::format("{} rows:", experiments.size());
  for (const auto& [verdict, n] : verdicts) out += fmt::format(" {} {}", n, verdict);
  return out + "\n";
}

std::string figure_tables(const Json& experiment) {
  std::string out;
  for (const Json& figure : experiment.at("figures")) {
    const Json& x = figure.at("x").at("values");
    out += fmt::format("\n{}\n", text(figure, "title"));
    std::size_t width = 12;
    std::vector<std::string> names;
    for (const Json& series : figure.at("series")) {
      names.push_back((series.contains("stack") ? text(series, "stack") + ": " : "") +
                      text(series, "name"));
      width = std::max(width, names.back().size());
    }
    out += fmt::format("  {:<{}}", text(figure.at("x"), "label"), width);
    for (const Json& value : x)
      out += fmt::format(" {:>10}", value.is_number() ? json_dump(value) : number(value));
    out += '\n';
    for (std::size_t s = 0; s < names.size(); ++s) {
      out += fmt::format("  {:<{}}", names[s], width);
      for (const Json& value : figure.at("series")[s].at("values"))
        out += fmt::format(" {:>10}", number(value));
      out += '\n';
    }
  }
  return out;
}

}  // namespace raddle::cli
