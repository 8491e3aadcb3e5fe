// raddle sweep: run an experiment file. raddle reproduce: run a paper's, and say which of its rows
// hold.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/lab_options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/verdict_table.h"
#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/library.h"
#include "raddle/lab/plan/external_programs.h"
#include "raddle/lab/verdict/document.h"
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
    lab::Paper paper = lab::read_single(file, lab.scale_value());
    if (const lab::Experiment& only = paper.experiments.front();
        only.runs.empty() && only.tested_by.empty())
      throw InputError(only.place, "expected something to run under [[runs]], found nothing");
    lab::identify(paper, catalogue());
    const auto out = run_experiments(paper, lab::select(paper, ""), lab, arguments);
    if (!out) return 0;
    print(lab,
          verdict_table(out->document) + figure_tables(out->document.at("experiments").front()));
    if (lab.quiet)  // the table has them
      std::fputs(failed_runs(out->document.at("experiments").front()).c_str(), stderr);
    return out->summary.any_failed() || lab::any_fails(out->document) ? 1 : 0;
  }
};

struct ReproduceCommand {
  LabOptions lab;
  std::string what, experiments;
  std::vector<std::string> with, arguments;

  int operator()() const {
    const std::size_t dot = std::min(what.find('.'), what.size());
    lab::Paper paper = lab::Library(experiments).paper(what.substr(0, dot), lab.scale_value());
    const auto chosen = lab::select(paper, what.substr(std::min(dot + 1, what.size())));
    for (std::size_t i = 0; i < with.size(); ++i) {
      const auto name = [](const std::string& text) { return text.substr(0, text.find('=')); };
      for (std::size_t j = 0; j < i; ++j)
        if (name(with[j]) == name(with[i]))
          throw InputError({"--with"}, "'" + name(with[i]) + "' is there twice");
      replace(paper, chosen, with[i]);
    }
    lab::identify(paper, catalogue());
    const auto out = run_experiments(paper, chosen, lab, arguments);
    if (!out) return 0;
    print(lab, verdict_table(out->document));
    if (!with.empty()) {
      for (const lab::Json& experiment : out->document.at("experiments"))
        print(lab, figure_tables(experiment));
      return out->summary.any_failed() ? 1 : 0;
    }
    if (dot == what.size()) keep(paper.id, out->document);
    return lab::all_pass(out->document) ? 0 : 1;
  }

 private:
  static void replace(lab::Paper& paper, const std::vector<const lab::Experiment*>& chosen,
                      const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError({"--with"},
                       "expected WORKLOAD=FILE.rdl or WORKLOAD=\"./program arguments\", "
                       "found '" +
                           text + "'");
    lab::replace_workload(paper, chosen, text.substr(0, equals), text.substr(equals + 1));
  }

  /// Of a whole paper: the document, then the pages and figures of every paper whose document of
  /// this scale is in the folder (what `raddle report` draws).
  void keep(const std::string& paper, const lab::Json& document) const {
    const std::string end = fmt::format(".{}.json", lab.scale);
    write_file(fmt::format("{}/{}{}", lab.results, paper, end), json_dump(document, 2));
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
  reproduce
      ->add_option("--with", command->with,
                   "your own work in the place of a workload of the paper: kmn=my.rdl, "
                   "kmn=kernelslist.g, or \"kmn=./kmn -i points.txt\", a CUDA program, which is "
                   "recorded once. The paper's numbers and verdicts then do not apply")
      ->allow_extra_args(false)
      ->type_name("WORKLOAD=FILE.rdl|COMMAND");
  command->lab.add_to(*reproduce);
  return {reproduce, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
