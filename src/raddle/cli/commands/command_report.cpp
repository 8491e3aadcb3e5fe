// raddle report: pages from what was kept, without running anything: of papers from the documents
// that raddle reproduce keeps, of runs from the results that --json of other commands keeps.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/base/stable_sort.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/report/document.h"
#include "raddle/report/kept.h"
#include "raddle/report/reproduction.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReportCommand {
  std::vector<std::string> files, arguments;
  std::string output, baseline;
  bool quiet = false;

  int operator()() const {
    std::vector<Json> documents;
    for (const std::string& file : files) documents.push_back(read_json(file));
    const auto kept = std::ranges::count_if(documents, report::is_kept_result);
    if (kept == 0) return reproductions(documents);
    if (kept != std::ssize(documents))
      throw InputError(
          "report: expected reproduction documents or results, found both; draw them one after the "
          "other");
    return results(documents);
  }

 private:
  int reproductions(const std::vector<Json>& documents) const {
    if (!baseline.empty())
      throw InputError("--baseline: expected results of run, replay, compare or exec");
    for (std::size_t i = 0; i < files.size(); ++i) report::read_document(documents[i], files[i]);
    const report::Written written = report::write_site(documents, output);
    if (quiet) return 0;
    if (!written.note.empty()) std::fprintf(stderr, "raddle: %s\n", written.note.c_str());
    std::printf("%zu files; open %s/index.html in a browser\n", written.names.size(),
                output.c_str());
    return 0;
  }

  int results(const std::vector<Json>& documents) const {
    report::KeptInput input{.command = joined(arguments), .date = today(), .runs = {}};
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (std::ranges::count(files, files[i]) > 1)
        throw InputError({files[i]}, "is named twice; expected each file once");
      add(report::read_kept(documents[i], files[i]), input);
    }
    if (input.runs.empty())
      throw InputError({files.front()}, "expected at least one result, found none");
    if (!baseline.empty()) put_first(input.runs);
    check_outputs({{"--output", output}});
    write_file(output, report::kept_html(std::move(input)));
    if (!quiet) std::fprintf(stderr, "report: %s\n", output.c_str());
    return 0;
  }

  /// What compare has computed of a file's runs holds of them alone, in their order.
  void add(report::KeptFile file, report::KeptInput& input) const {
    const bool alone = files.size() == 1 && baseline.empty();
    const std::string name = file.runs.empty() ? "" : file.runs.front().file;
    const auto leave_out = [&](const char* what) {
      input.left_out.push_back("Not drawn, as other runs stand beside them or first: " +
                               std::string(what) + " of " + name + ".");
    };
    if (!file.over_seeds.empty() && !alone) leave_out("the means over the seeds");
    if (!file.what_if.empty() && !alone) leave_out("what changes of the machine bring");
    if (alone) {
      input.over_seeds = std::move(file.over_seeds);
      input.what_if = std::move(file.what_if);
    }
    for (report::KeptRun& run : file.runs)
      if (run.what_if.empty()) input.runs.push_back(std::move(run));  // the others: in a table
  }

  /// A file, or the label of results.
  void put_first(std::vector<report::KeptRun>& runs) const {
    const bool is_file = std::ranges::find(files, baseline) != files.end();
    const auto is_other = [&](const report::KeptRun& run) {
      return (is_file ? run.file : run.label) != baseline;
    };
    sort_stably(runs, is_other);
    if (!is_other(runs.front())) return;
    std::string known;
    for (const report::KeptRun& run : runs)
      if (known.find("'" + run.label + "'") == std::string::npos)
        known += (known.empty() ? "'" : ", '") + run.label + "'";
    throw InputError("--baseline: expected one of the files or of " + known + ", found '" +
                     baseline + "'");
  }
};

}  // namespace

Command add_report(CLI::App& app, std::vector<std::string> arguments) {
  auto command = std::make_shared<ReportCommand>();
  command->arguments = std::move(arguments);
  CLI::App* report =
      app.add_subcommand("report", "pages and figures from kept documents and results");
  report
      ->add_option("documents", command->files,
                   "reproduction documents, those of one paper's single experiments are joined; or "
                   "results kept by --json of run, replay, compare and exec, on one page")
      ->required()
      ->type_name("DOCUMENT.json ...");
  report
      ->add_option("-o,--output", command->output,
                   "folder to write pages of papers into; the page of results")
      ->required()
      ->type_name("FOLDER|PAGE.html");
  report
      ->add_option("--baseline", command->baseline,
                   "of results: the file, or the policies, that the others are compared with "
                   "(default: the first)")
      ->type_name("FILE|POLICIES");
  report->add_flag("--quiet", command->quiet, "print nothing but errors");
  report->footer(
      "raddle report before.json after.json -o page.html\n"
      "raddle report ccws.json -o pages");
  return {report, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
