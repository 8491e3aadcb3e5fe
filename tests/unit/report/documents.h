// A made-up reproduction document for tests of the pages of papers, and what tests ask of SVG.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::report {

/// Two experiments: one with a figure of each type that has an axis, one without anything optional.
inline nlohmann::ordered_json small_document() {
  return nlohmann::ordered_json::parse(R"({
    "schema": 1, "kind": "reproduction", "raddle_version": "0.1.0", "date": "2024-05-01",
    "command": "raddle reproduce ccws", "scale": "quick",
    "paper": {"id": "ccws", "title": "Cache-Conscious", "reference": "MICRO 2012"},
    "machine": {"name": "ccws", "config": {"sm": {"count": 30}}},
    "experiments": [
      {"id": "ccws.fig7", "title": "Performance", "kind": "P", "priority": 1, "claim": "faster",
       "status": "fail",
       "figures": [
         {"title": "IPC", "type": "bars",
          "x": {"label": "", "scale": "category", "values": ["BFS", "GC"]},
          "y": {"label": "IPC", "unit": "relative to GTO"},
          "series": [{"name": "GTO", "values": [1, 1]},
                     {"name": "CCWS", "values": [1.5, null], "stated": [1.63, null]}]},
         {"title": "Size", "type": "lines",
          "x": {"label": "KiB", "scale": "log", "values": [8, 16, 32]},
          "series": [{"name": "BFS", "values": [1, 2, 3], "stated": [null, null, 3.5]}]},
         {"title": "Hits", "type": "stacked", "x": {"values": ["BFS"]},
          "series": [{"name": "miss", "stack": "GTO", "values": [30]},
                     {"name": "hit", "stack": "GTO", "values": [10]},
                     {"name": "miss", "stack": "CCWS", "values": [20], "stated": [15]}]}],
       "shapes": [{"statement": "ccws > gto", "text": "faster", "verdict": "pass", "detail": ""},
                  {"verdict": "fail"}, {"verdict": "not_run", "text": null}],
       "stated": [{"what": "gain", "paper": 1.63, "ours": 1.5, "bounds": [1.3, 2], "within": true},
                  {"what": "loss", "paper": null, "ours": null, "bounds": [null, 1],
                   "within": null}],
       "explanation": "because", "counters": {"columns": ["a", "b"], "rows": [["x", 1]]},
       "runs": {"total": 10, "done": 8, "failed": 2,
                "failures": [{"cell": "bfs", "error": "hang"}]},
       "wall_seconds": 12.5},
      {"id": "ccws.fig6", "title": "Example", "claim": "scores", "status": "tested_elsewhere"}]})");
}

/// What is wrong with `svg` as XML: an element not closed, a stray '<', '&' or control character;
/// empty when nothing is.
inline std::string xml_fault(std::string_view svg) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < svg.size(); ++at) {
    const char c = svg[at];
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
    if (c == '&' && svg.substr(at, 4) != "&lt;" && svg.substr(at, 4) != "&gt;" &&
        svg.substr(at, 5) != "&amp;" && svg.substr(at, 6) != "&quot;")
      return "a stray &";
    if (c != '<') continue;
    const std::size_t end = svg.find('>', at);
    if (end == std::string_view::npos) return "a tag without an end";
    const std::string_view tag = svg.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string_view::npos) return "a stray <";
    const std::string name(tag.substr(tag.starts_with('/') ? 1 : 0, tag.find_first_of(" >/", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

}  // namespace raddle::report
