#include "raddle/lab/file/experiment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "raddle/lab/file/definitions.h"
#include "raddle/lab/file/experiment_body.h"
#include "raddle/lab/file/names.h"
#include "raddle/lab/file/short_form.h"

namespace raddle::lab {

namespace {

/// "n.2lvl-lrr": what targets call their rows.
bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && id.front() != '.' && id.back() != '.' &&
         std::ranges::all_of(id, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

/// gpu, set, seed, timeout_minutes, max_cycles.
void read_machine(Section& file, Experiment& e) {
  if (auto gpu = file.placed_text("gpu")) e.gpu = std::move(*gpu);
  lay_over(e.set, file.settings("set"));
  if (const auto seed = file.whole("seed", {1, ~0ull})) {
    e.seed = *seed;
    for (const Setting& setting : e.set)
      if (setting.path == "run.seed")
        file.fail("seed", "'run.seed' under `set` says that already: leave one out");
  }
  if (const auto minutes = file.number("timeout_minutes", {0.001, 1e6}))
    e.timeout_minutes = *minutes;
  if (const auto cycles = file.whole("max_cycles", {1, ~0ull})) e.max_cycles = *cycles;
}

/// [corun], which takes the place of the paper's.
void read_corun(Section& file, Scale scale, Experiment& e) {
  auto section = file.section("corun");
  if (!section) return;
  Corun out;
  out.place = section->place();
  auto cycles = [&](Section& from) {
    if (const auto horizon = from.whole("horizon", {1, ~0ull})) out.horizon = *horizon;
    if (const auto warmup = from.whole("warmup")) out.warmup = *warmup;
  };
  cycles(*section);
  for (const Scale of : {Scale::Quick, Scale::Full}) {
    auto own = section->section(kScaleNames[static_cast<std::size_t>(of)]);
    if (!own) continue;
    if (of == scale) cycles(*own);
    else
      for (const std::string_view key : {"horizon", "warmup"}) own->take(key);
    own->finish();
  }
  if (out.horizon == 0)
    section->fail("horizon", "expected the cycles up to which runs go, found nothing");
  else if (out.warmup >= out.horizon)
    section->fail("warmup", fmt::format("expected fewer cycles than the horizon of {}, found {}",
                                        out.horizon, out.warmup));
  out.alone = section->formula("alone");
  section->finish();
  e.corun = std::move(out);
}

/// The document, or a problem.
std::optional<config::Tree> parse(const SourceFile& file, Problems& problems) {
  try {
    return config::Tree::from_toml(file.text, file.path);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) problems.add(d.place, d.message);
    return std::nullopt;
  }
}

struct PaperFile {
  Paper paper;
  Experiment common;  ///< what every file of the folder starts from
  std::vector<PlacedText> order;
};

PaperFile read_paper_file(const SourceFile& source, const config::Tree& tree,
                          const std::string& folder, Scale scale, Problems& problems) {
  PaperFile out;
  Section file(tree.root(), "", problems);
  out.paper.id = file.needed_text("id");
  if (!out.paper.id.empty() && out.paper.id != folder)
    file.fail("id", fmt::format("expected \"{}\", the name of the folder, found \"{}\"", folder,
                                out.paper.id));
  out.paper.title = file.needed_text("title");
  out.paper.reference = file.text("reference", "");
  out.paper.notes = file.text("notes", "");
  out.common.paper = out.paper.id = folder;
  out.common.place = {source.path};
  read_machine(file, out.common);
  read_corun(file, scale, out.common);
  out.order = file.texts("order");
  read_definitions(file, scale, out.common);
  check_definitions(out.common, problems);
  file.finish();
  out.paper.gpu = out.common.gpu;
  out.paper.set = out.common.set;
  return out;
}

/// id, title and kind, which a file that stands alone need not have.
void read_head(Section& file, const SourceFile& source, bool alone, Experiment& e) {
  const std::string stem = id_from(std::filesystem::path(source.path).stem().string());
  e.id = alone && !file.has("id") ? stem : file.needed_text("id");
  if (!e.id.empty() && !is_id(e.id))
    file.fail("id", fmt::format("expected letters, digits, '.', '_' and '-', found \"{}\"", e.id));
  e.title = alone && !file.has("title") ? e.id : file.needed_text("title");
  if (const auto kind = file.choice("kind", kExperimentKinds)) e.kind = kExperimentKinds[*kind];
  else if (alone) e.kind = kStudy;
  else if (!file.has("kind"))
    file.fail("kind", "expected a kind such as \"performance\", found nothing");
}

Experiment read_experiment(const SourceFile& source, const config::Tree& tree,
                           const Experiment& common, bool alone, Scale scale, Problems& problems) {
  Experiment e = common;
  Section file(tree.root(), "", problems);
  e.place = {source.path};
  read_head(file, source, alone, e);
  if (const config::Node* id = tree.find("id")) e.place = id->place;
  if (const auto priority = file.whole("priority", {1, 3}))
    e.priority = static_cast<std::uint32_t>(*priority);
  e.source = file.text("source", "");
  e.claim = file.text("claim", "");
  e.explanation = file.text("explanation", "");
  read_machine(file, e);
  read_corun(file, scale, e);
  read_definitions(file, scale, e);
  check_definitions(e, problems);
  read_body(file, scale, alone, e);
  file.finish();
  return e;
}

void sort_experiments(Paper& paper, const std::vector<PlacedText>& order, Problems& problems) {
  for (const PlacedText& id : order)
    if (std::ranges::find(paper.experiments, id.text, &Experiment::id) == paper.experiments.end())
      problems.add(id.place, fmt::format("order: there is no experiment \"{}\"", id.text));
  auto rank = [&](const Experiment& e) {
    const auto at = std::ranges::find(order, e.id, &PlacedText::text);
    return std::pair(at - order.begin(), at == order.end() ? e.id : "");
  };
  std::ranges::sort(paper.experiments, {}, rank);
}

}  // namespace

Paper read_paper(const std::optional<SourceFile>& paper_file, const std::vector<SourceFile>& files,
                 const std::string& folder, Scale scale) {
  Problems problems;
  PaperFile head;
  head.paper.id = head.common.paper = id_from(folder);
  head.paper.title = folder;
  std::optional<config::Tree> paper_tree;  // places in it are referred to until the end
  if (paper_file) {
    paper_tree = parse(*paper_file, problems);
    if (paper_tree)
      head = read_paper_file(*paper_file, *paper_tree, id_from(folder), scale, problems);
    else problems.finish();  // nothing below it can be understood
  }
  Paper& paper = head.paper;
  for (const SourceFile& source : files) {
    const std::optional<config::Tree> tree = parse(source, problems);
    if (!tree) continue;
    Experiment e = read_experiment(source, *tree, head.common, !paper_file, scale, problems);
    const auto same = std::ranges::find(paper.experiments, e.id, &Experiment::id);
    if (!e.id.empty() && same != paper.experiments.end())
      problems.add(e.place, fmt::format("id: \"{}\" is already the id of {}:{}", e.id,
                                        same->place.file, same->place.line));
    paper.experiments.push_back(std::move(e));
  }
  if (files.size() > 1) sort_experiments(paper, head.order, problems);
  problems.finish();
  return std::move(paper);
}

}  // namespace raddle::lab
