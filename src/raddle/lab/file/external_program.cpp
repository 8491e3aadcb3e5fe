#include "raddle/lab/file/external_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/config/spelling.h"

namespace raddle::lab {

namespace {

/// As the option says it; `name` is that of the workload.
ExternalProgram read_external(const std::string& name, const std::string& text) {
  ExternalProgram out;
  out.place = {"--with " + name};
  if (text.ends_with(".rdl") || text.ends_with(".g")) out.file = text;
  else out.command = split_command(text);
  if (out.file.empty() && out.command.empty())
    throw InputError(out.place, "expected FILE.rdl, kernelslist.g or a program, found nothing");
  return out;
}

/// What the paper says of its own program, or of all of them together, says nothing of this one.
void make_ours(Experiment& e, const std::string& name, const std::string& text) {
  e.id += "-with-" + name;  // the paper's runs keep their place in the database
  e.kind = kStudy;
  e.reported.clear();
  e.explanation = fmt::format(
                      "**`{}` is not the paper's: `{}` ran in its place.** The paper's "
                      "numbers are left out, and its statements below do not apply; they "
                      "say what holds here.\n\n",
                      name, text) +
                  (e.replaced.empty() ? "" : e.explanation);
}

}  // namespace

void replace_workload(Paper& paper, const std::vector<const Experiment*>& chosen,
                      const std::string& name, const std::string& text) {
  const ExternalProgram external = read_external(name, text);
  std::vector<std::string> known;
  bool used = false;
  for (Experiment& e : paper.experiments) {
    if (std::ranges::find(chosen, &e) == chosen.end()) continue;
    for (const Workload& workload : e.workloads) known.push_back(workload.name);
    const auto at = e.find(name, NameKind::Workload);
    if (!at || !e.runs_workload(*at)) continue;
    used = true;
    Workload& workload = e.workloads[*at];
    if (!workload.members.empty())
      throw InputError(external.place, "the workload is a co-run of others; replace one of these");
    workload.external = external;
    workload.title += " (" + text + ")";
    workload.parameters.clear();
    workload.set.clear();
    make_ours(e, name, text);
    e.replaced.emplace_back(name);
  }
  if (used) return;
  const std::string near = config::nearest(name, known);
  throw InputError(
      external.place,
      fmt::format("no experiment that is asked for runs a workload '{}'"
                  "{}",
                  name, near.empty() || near == name ? "" : "; did you mean '" + near + "'?"));
}

std::vector<std::string> split_command(const std::string& text) {
  std::vector<std::string> out;
  char quote = 0;
  bool inside = false;  // a word, be it empty
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside) out.emplace_back();
    inside = true;
    if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    else if (c == quote) quote = 0;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size()) out.back() += text[++i];
    else out.back() += c;
  }
  if (quote != 0) throw InputError({text}, fmt::format("a quote {} does not end", quote));
  return out;
}

Json to_json(const ExternalProgram& external) {
  Json out = Json::object();
  if (!external.command.empty()) out["program"] = external.command;
  else out["recording"] = external.file;
  if (!external.inputs.empty()) out["inputs"] = external.inputs;
  if (!external.identity.empty()) out["identity"] = external.identity;
  return out;
}

}  // namespace raddle::lab
