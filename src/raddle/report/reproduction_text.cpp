#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "raddle/report/document.h"
#include "raddle/report/reproduction.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// One line that cannot end a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2)
    text.replace(at, 1, text[at] == '|' ? "\\|" : "  ");
  return text;
}

std::string number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? fmt::format("{:.3g}", at->get<double>()) : "-";
}

std::string id_in_paper(const Experiment& e, const std::string& paper) {
  return e.id.starts_with(paper + ".") ? e.id.substr(paper.size() + 1) : e.id;
}

std::string status_words(const std::string& status) {
  return status == "tested_elsewhere" ? "tested elsewhere"
         : status == "no_verdict"     ? "no verdict"
                                      : status;
}

std::string stated_cell(const Json& experiment) {
  std::string out;
  const auto all = experiment.find("stated");
  if (all == experiment.end() || !all->is_array()) return "-";
  for (const Json& s : *all) {
    out += fmt::format("{}{}: {} / {}", out.empty() ? "" : "; ", cell(text_of(s, "what")),
                       number(s, "paper"), number(s, "ours"));
    if (s.value("refuted", Json()) == true)
      out += fmt::format(" **refuted** ({} {})",
                         text_of(s["bound"], "is") == "at_most" ? "at most" : "at least",
                         number(s["bound"], "value"));
    else if (const auto within = s.find("within"); within == s.end() || *within != true)
      out += " **outside**";
  }
  return out.empty() ? "-" : out;
}

std::string shapes_cell(const Experiment& e) {
  std::string out = fmt::format("{} of {}", e.shapes_passed, e.shapes);
  if (e.shapes_refuted != 0) out += fmt::format(", {} refuted", e.shapes_refuted);
  return out;
}

std::string table(const Document& document, const Json& experiments) {
  std::string out =
      "| row | what | verdict | shapes that hold | the paper's number / ours |\n"
      "|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < document.experiments.size(); ++i) {
    const Experiment& e = document.experiments[i];
    out += fmt::format("| {} | {} | {} | {} | {} |\n", id_in_paper(e, document.paper),
                       cell(e.title), status_words(e.status) + (e.study ? " (ours)" : ""),
                       e.shapes == 0 ? "-" : shapes_cell(e), stated_cell(experiments[i]));
  }
  return out;
}

std::string totals(const Document& document) {
  std::map<std::string, std::size_t> rows;
  std::size_t shapes = 0, shapes_passed = 0, stated = 0, within = 0, studies = 0, refuted = 0;
  for (const Experiment& e : document.experiments) {
    if (e.study) {
      ++studies;
      continue;
    }
    ++rows[e.status];
    shapes += e.shapes;
    shapes_passed += e.shapes_passed;
    stated += e.stated;
    within += e.stated_within;
    refuted += e.shapes_refuted + e.stated_refuted;
  }
  std::string out;
  for (const auto& [status, count] : rows)
    out += fmt::format("{}{} {}", out.empty() ? "Rows: " : ", ", count, status_words(status));
  return fmt::format(
      "{}. {} of {} required shapes and {} of {} stated numbers hold{}. "
      "{}{} runs, counted in every row that uses them.\n",
      out, shapes_passed, shapes, within, stated,
      refuted == 0 ? "" : fmt::format("; {} are refuted by bounds", refuted),
      studies == 0 ? "" : fmt::format("Rows of ours, not counted: {}. ", studies), document.runs);
}

}  // namespace

std::string reproduction_text(const Json& json) {
  const Document document = read_document(json);
  const Json& experiments = json.at("experiments");
  std::string out =
      fmt::format("# {}: what reproduces, what does not, and why\n\n{}\n\n```\n{}\n```\n\n",
                  document.title, document.reference, document.command);
  out += fmt::format("{}, Raddle {}. {}\n{}", document.date, document.raddle_version,
                     totals(document), table(document, experiments));
  for (std::size_t i = 0; i < document.experiments.size(); ++i) {
    const std::string why = text_of(experiments[i], "explanation");
    if (why.empty()) continue;
    const Experiment& e = document.experiments[i];
    out += fmt::format("\n## {}: {}\n\n", id_in_paper(e, document.paper), e.title);
    out += why + (why.ends_with('\n') ? "" : "\n");
  }
  if (const std::string notes = text_of(json.at("paper"), "notes"); !notes.empty())
    out += "\n## Where the paper is silent, or cannot be followed\n\n" + notes +
           (notes.ends_with('\n') ? "" : "\n");
  return out;
}

}  // namespace raddle::report
