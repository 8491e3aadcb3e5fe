// raddle report: pages of papers from the documents that raddle reproduce keeps, without running
// anything.
#include <cstdio>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/document.h"
#include "raddle/report/reproduction.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReportCommand {
  std::vector<std::string> files;
  std::string folder;
  bool quiet = false;

  int operator()() const {
    std::vector<Json> documents;
    for (const std::string& file : files) {
      documents.push_back(read_json(file));
      report::read_document(documents.back(), file);
    }
    const report::Written written = report::write_site(documents, folder);
    if (quiet) return 0;
    if (!written.note.empty()) std::fprintf(stderr, "raddle: %s\n", written.note.c_str());
    std::printf("%zu files; open %s/index.html in a browser\n", written.names.size(),
                folder.c_str());
    return 0;
  }
};

}  // namespace

Command add_report(CLI::App& app) {
  auto command = std::make_shared<ReportCommand>();
  CLI::App* report = app.add_subcommand(
      "report", "pages and figures of papers from the documents that reproduce keeps");
  report
      ->add_option("documents", command->files,
                   "reproduction documents; those of one paper's single experiments are joined")
      ->required()
      ->type_name("DOCUMENT.json ...");
  report->add_option("-o,--output", command->folder, "folder to write into")
      ->required()
      ->type_name("FOLDER");
  report->add_flag("--quiet", command->quiet, "print nothing but errors");
  return {report, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
