#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "raddle/report/difference.h"
#include "raddle/report/json_member.h"
#include "raddle/report/kept.h"
#include "raddle/sim/result/version.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxOtherSettings = 4;

/// Names as short as they can be while they differ.
std::map<std::string, std::string> short_names(std::span<const KeptRun> runs) {
  std::map<std::string, std::set<std::string>> of_name;
  const auto name = [](const std::string& file) {
    return std::filesystem::path(file).filename().string();
  };
  for (const KeptRun& run : runs) of_name[name(run.file)].insert(run.file);
  std::map<std::string, std::string> out;
  for (const KeptRun& run : runs)
    out[run.file] = of_name[name(run.file)].size() == 1 ? name(run.file) : run.file;
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between = ", ") {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

bool launches_by_kernels(const Json& result) {
  return std::ranges::any_of(member(result, "kernels"),
                             [](const Json& k) { return k.contains("parent"); }) ||
         std::ranges::any_of(member(result, "kernels_by_name"),
                             [](const Json& k) { return member(k, "device_launches") != 0; });
}

bool has_sources(const Json& result) {
  for (const auto& [name, kernel] :
       member(member(member(result, "analysis"), "source"), "kernels").items())
    if (std::ranges::any_of(member(kernel, "lines"),
                            [](const Json& line) { return line.contains("source"); }))
      return true;
  return false;
}

/// What a page of --report has and the kept result has not.
void add_missing(const Json& result, std::set<std::string>& out) {
  if (member(result, "timed") != true) return;
  const bool corun = !member(result, "tenants").is_null();
  out.insert("activity over time");
  out.insert("which block ran where and when");
  if (corun) out.insert("what tenants used over time");
  if (member(member(member(result, "config"), "noc"), "topology") == "mesh")
    out.insert("the map of the mesh");
  if (launches_by_kernels(result)) out.insert("the tree of launches by kernels and their waits");
  if (!member(result, "sampling").is_null()) return;  // then no page has them
  const Json& analysis = member(result, "analysis");
  const std::string_view how = " (kept where --report stands beside --json)";
  if (member(analysis, "source").is_null()) out.insert(fmt::format("source lines{}", how));
  if (!corun && member(analysis, "allocations").is_null())
    out.insert(fmt::format("traffic by allocation{}", how));
}

/// Of a run and the first one of its work, from two files.
std::string unlike(const Json& base, const Json& result) {
  std::vector<std::string> out;
  const Json &machine = member(member(result, "config"), "name"),
             &before = member(member(base, "config"), "name");
  if (machine != before && machine.is_string() && before.is_string())
    out.push_back(fmt::format("another machine, {} instead of {}", machine.get<std::string>(),
                              before.get<std::string>()));
  if (const std::string work = work_that_differs(base, result); !work.empty())
    out.push_back("not the same work: " + work);
  const auto settings = settings_that_differ(member(base, "config"), member(result, "config"));
  if (!settings.empty()) {
    const std::size_t named = std::min(settings.size(), kMaxOtherSettings);
    std::string text = joined({settings.begin(), settings.begin() + static_cast<long>(named)});
    if (named < settings.size()) text += fmt::format(" and {} more", settings.size() - named);
    out.push_back("other settings, " + text);
  }
  return joined(out, "; ");
}

}  // namespace

void distinguish(std::vector<KeptRun>& runs) {
  std::map<std::string, std::set<std::string>> files;
  for (const KeptRun& run : runs) files[work_key(run.result) + run.label].insert(run.file);
  if (std::ranges::all_of(files, [](const auto& one) { return one.second.size() == 1; })) return;
  const auto names = short_names(runs);
  for (KeptRun& run : runs) run.label += " (" + names.at(run.file) + ")";
}

Json kept_sentences(const std::vector<KeptRun>& runs) {
  Json out = Json::array();
  auto names = short_names(runs);
  std::vector<std::string> files;
  for (const KeptRun& run : runs)
    if (std::ranges::find(files, run.file) == files.end()) files.push_back(run.file);
  std::map<std::string, std::vector<std::string>> missing, made_by;  // files alike in that
  for (const std::string& file : files) {
    std::set<std::string> lacks, versions, works;
    for (const KeptRun& run : runs) {
      if (run.file != file) continue;
      add_missing(run.result, lacks);
      versions.insert(member(run.result, "raddle_version").get<std::string>());
      works.insert(work_title(run.result));
    }
    out.push_back(fmt::format("{}: {}", names[file], joined({works.begin(), works.end()})));
    for (const std::string& version : versions) made_by[version].push_back(names[file]);
    missing[joined({lacks.begin(), lacks.end()})].push_back(names[file]);
  }
  for (const auto& [version, of] : made_by)
    if (version != sim::version())
      out.push_back(
          fmt::format("{}: made by an older program ({}); today's is {} and may give other numbers",
                      joined(of), version, sim::version()));
  for (const auto& [what, of] : missing)
    if (!what.empty())
      out.push_back(fmt::format("not in {}, and so not drawn: {}", joined(of), what));
  if (std::ranges::any_of(runs, [](const KeptRun& run) { return has_sources(run.result); }))
    out.push_back("the text beside source lines is that of the source files as they are today");
  std::map<std::string, const KeptRun*> first;
  std::set<std::string> said;
  for (const KeptRun& run : runs) {
    const KeptRun& base = *first.try_emplace(work_key(run.result), &run).first->second;
    const std::string text = base.file == run.file ? "" : unlike(base.result, run.result);
    if (text.empty()) continue;
    const std::string sentence =
        fmt::format("{}{}, compared with {}: {}", names[run.file],
                    run.label.empty() ? "" : ", " + run.label, names[base.file], text);
    if (said.insert(sentence).second) out.push_back(sentence);
  }
  if (files.size() > 1 && first.size() > 1)
    out.push_back("the files are of different work, each of which is compared with its own only");
  return out;
}

}  // namespace raddle::report
