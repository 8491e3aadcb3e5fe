// raddle sweep: run an experiment file. raddle reproduce: run a paper's, and say which of its rows
// hold.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "raddle/cli/commands.h"
#include "raddle/cli/lab_options.h"
#include "raddle/cli/output.h"
#include "raddle/cli/verdict_table.h"
#include "raddle/lab/library.h"
#include "raddle/report/reproduction.h"

namespace raddle::cli {

namespace {

void print(const LabOptions& options, const std::string& text) {
  if (!options.quiet && options.json != "-") std::fputs(text.c_str(), stdout);
}

struct SweepCommand {
  LabOptions lab;
  std::string file;
  std::vector<std::string> arguments;

  int operator()() const {
    const lab::Paper paper = lab::read_single(file, lab.scale_value());
    const auto out = run_experiments(paper, lab::select(paper, ""), lab, arguments);
    if (!out) return 0;
    print(lab,
          verdict_table(out->document) + figure_tables(out->document.at("experiments").front()));
    const bool failed = std::ranges::any_of(out->summary.states, [](const lab::RunState& state) {
      return state.kind == lab::RunState::Kind::Failed;
    });
    return failed ? 1 : 0;
  }
};

struct ReproduceCommand {
  LabOptions lab;
  std::string what, experiments;
  std::vector<std::string> arguments;

  int operator()() const {
    const std::size_t dot = std::min(what.find('.'), what.size());
    const lab::Paper paper =
        lab::Library(experiments).paper(what.substr(0, dot), lab.scale_value());
    const auto chosen = lab::select(paper, what.substr(std::min(dot + 1, what.size())));
    const auto out = run_experiments(paper, chosen, lab, arguments);
    if (!out) return 0;
    print(lab, verdict_table(out->document));
    if (dot == what.size()) keep(paper.id, out->document);
    return lab::all_pass(out->document) ? 0 : 1;
  }

 private:
  /// Of a whole paper: the document, then the pages and figures of every paper whose document of
  /// this scale is in the folder (what `raddle report` draws).
  void keep(const std::string& paper, const lab::Json& document) const {
    const std::string end = fmt::format(".{}.json", lab.scale);
    write_file(fmt::format("{}/{}{}", lab.results, paper, end), document.dump(2));
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(lab.results))
      if (const std::string file = entry.path().string(); file.ends_with(end))
        files.push_back(file);
    std::ranges::sort(files);
    std::vector<lab::Json> documents;
    for (const std::string& file : files) documents.push_back(read_json(file));
    const std::string folder = fmt::format("{}/report-{}", lab.results, lab.scale);
    const report::Written written = report::write_site(documents, folder);
    if (!lab.quiet && !written.note.empty())
      std::fprintf(stderr, "raddle: %s\n", written.note.c_str());
    print(lab, fmt::format("report: {}/{}\n", folder, report::page_name(document)));
  }
};

}  // namespace

Command add_sweep(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<SweepCommand>();
  command->arguments = std::move(arguments);
  CLI::App* sweep = app.add_subcommand(
      "sweep", "run an experiment file (experiments/README.md); started again, it goes on");
  sweep->add_option("file", command->file, "the experiment")->required()->type_name("FILE.toml");
  command->lab.add_to(*sweep);
  return {sweep, [command] { return (*command)(); }};
}

Command add_reproduce(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<ReproduceCommand>();
  command->arguments = std::move(arguments);
  CLI::App* reproduce = app.add_subcommand(
      "reproduce", "run a paper's experiments and say which of its figures and numbers hold");
  reproduce->add_option("paper", command->what, "see raddle list experiments: ccws, or ccws.fig7")
      ->required()
      ->type_name("PAPER[.ITEM]");
  reproduce
      ->add_option("--experiments", command->experiments,
                   "folder of papers' folders instead of those built in")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command->lab.add_to(*reproduce);
  return {reproduce, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
