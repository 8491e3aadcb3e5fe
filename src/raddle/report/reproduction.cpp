#include "raddle/report/reproduction.h"

#include <algorithm>
#include <set>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/report/document.h"
#include "raddle/report/joined_documents.h"
#include "raddle/report/page.h"
#include "raddle/sim/result/version.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kIndexName = "index.html";

std::string page_of(const Document& document) { return document.paper + ".html"; }

Json paper_row(const Document& document) {
  Json statuses = {{"pass", 0},       {"refuted", 0},          {"fail", 0},
                   {"incomplete", 0}, {"tested_elsewhere", 0}, {"no_verdict", 0}};
  std::size_t shapes = 0, shapes_passed = 0, shapes_refuted = 0;
  std::size_t stated = 0, stated_within = 0, stated_refuted = 0;
  for (const Experiment& e : document.experiments) {
    if (e.study) continue;
    statuses[e.status] = statuses[e.status].get<int>() + 1;
    shapes += e.shapes;
    shapes_passed += e.shapes_passed;
    shapes_refuted += e.shapes_refuted;
    stated += e.stated;
    stated_within += e.stated_within;
    stated_refuted += e.stated_refuted;
  }
  return {{"page", page_of(document)},
          {"id", document.paper},
          {"title", document.title},
          {"reference", document.reference},
          {"raddle_version", document.raddle_version},
          {"commit", document.commit},
          {"date", document.date},
          {"command", document.command},
          {"scale", document.scale},
          {"experiments", statuses},
          {"shapes", {{"total", shapes}, {"passed", shapes_passed}, {"refuted", shapes_refuted}}},
          {"stated", {{"total", stated}, {"within", stated_within}, {"refuted", stated_refuted}}},
          {"runs", {{"total", document.runs}, {"failed", document.runs_failed}}}};
}

}  // namespace

std::string reproduction_page(const Json& json, const std::string& index) {
  const Document document = read_document(json);
  Json data = json;
  data["page_version"] = sim::version();
  if (!index.empty()) data["index_page"] = index;
  for (std::size_t e = 0; e < document.experiments.size(); ++e) {
    const std::vector<Figure>& figures = document.experiments[e].figures;
    for (std::size_t f = 0; f < figures.size(); ++f) {
      Json& figure = data["experiments"][e]["figures"][f];
      figure["svg"] = figure_svg(figures[f]);
      figure["csv"] = figure_csv(figures[f]);
    }
  }
  return filled(Page::reproduction, data);
}

std::string page_name(const Json& document) { return page_of(read_document(document)); }

Json index_data(std::span<const Json> documents) {
  Json out = {{"raddle_version", sim::version()}, {"papers", Json::array()}};
  std::set<std::string> seen;
  for (const Json& json : documents) {
    const Document document = read_document(json);
    if (!seen.insert(document.paper).second)
      throw InputError("two reproduction documents of paper '" + document.paper + "'");
    out["papers"].push_back(paper_row(document));
  }
  return out;
}

std::string index_page(std::span<const Json> documents) {
  return filled(Page::papers, index_data(documents));
}

Written write_site(std::span<const Json> given, const std::filesystem::path& folder) {
  const std::vector<Json> documents = joined_documents(given);
  const std::string index = index_page(documents);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw RunError("cannot make folder " + folder.string() + ": " + error.message());
  Written out;
  const auto write = [&](const std::string& name, const std::string& html) {
    write_file((folder / name).string(), html);
    out.names.push_back(name);
  };
  write(kIndexName, index);
  for (const Json& document : documents) {
    const std::string page = page_name(document);
    write(page, reproduction_page(document, kIndexName));
    write(std::filesystem::path(page).replace_extension(".md").string(),
          reproduction_text(document));
    const Written figures = write_figures(document, folder / "figures");
    for (const std::string& name : figures.names) out.names.push_back("figures/" + name);
    if (out.note.empty()) out.note = figures.note;
  }
  return out;
}

}  // namespace raddle::report
