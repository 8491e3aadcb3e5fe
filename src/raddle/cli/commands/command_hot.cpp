// raddle hot: what kept results spend their time and traffic on, without running anything.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/colour.h"
#include "raddle/cli/shared/hot_table.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/difference.h"
#include "raddle/report/hot.h"
#include "raddle/report/json_member.h"
#include "raddle/report/kept.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using report::KeptRun;

struct HotCommand {
  std::vector<std::string> files;
  std::vector<std::string> labels;  ///< of results; empty: all
  std::size_t top = HotTableOptions().top;
  bool json = false;

  int operator()() const {
    const std::vector<KeptRun> runs = chosen(read());
    Json all = {{"schema", 1}, {"kind", "hot"}, {"runs", Json::array()}};
    std::string text;
    const HotTableOptions options{top, !json && shows_colours(stdout)};
    for (const KeptRun& run : runs) {
      const report::Hot hot = report::hot_of(run.result);
      Json one = {{"file", run.file},
                  {"label", run.label},
                  {"workload", run.result.at("workload").at("name")},
                  {"gpu", machine_of(run)}};
      one.update(report::to_json(hot, top));
      all["runs"].push_back(std::move(one));
      text += (text.empty() ? "" : "\n") + hot_table(title_of(run), hot, options);
    }
    std::fputs(json ? (json_dump(all, 2) + "\n").c_str() : text.c_str(), stdout);
    return 0;
  }

 private:
  static std::string machine_of(const KeptRun& run) {
    const Json& name = report::member(run.result.at("config"), "name");
    return name.is_string() ? name.get<std::string>() : "a machine without a name";
  }

  /// Parameters last: they are what a narrow terminal can do without.
  static std::string title_of(const KeptRun& run) {
    const auto name = run.result.at("workload").at("name").get<std::string>();
    const std::string work = report::work_title(run.result);
    const bool parameters = work.size() > name.size();
    return name + " on " + machine_of(run) + ", " + (run.label.empty() ? "one run" : run.label) +
           (parameters ? ":" + work.substr(name.size()) : "");
  }

  std::vector<KeptRun> read() const {
    std::vector<KeptRun> out;
    for (const std::string& file : files) {
      std::vector<KeptRun> runs = report::read_kept(read_json(file), file).runs;
      if (runs.empty()) throw InputError({file}, "expected at least one result, found none");
      for (KeptRun& run : runs) {
        if (const std::string why = report::why_not_hot(run.result); !why.empty())
          throw InputError({file}, "expected " + why);
        out.push_back(std::move(run));
      }
    }
    return out;
  }

  /// Those that --policies names, in the order of the files.
  std::vector<KeptRun> chosen(std::vector<KeptRun> runs) const {
    if (labels.empty()) return runs;
    std::string known;
    for (const KeptRun& run : runs)
      if (const std::string quoted = "'" + run.label + "'"; known.find(quoted) == std::string::npos)
        known += (known.empty() ? "" : ", ") + quoted;
    for (const std::string& label : labels)
      if (std::ranges::find(runs, label, &KeptRun::label) == runs.end())
        throw InputError("--policies: expected some of " + known + ", found '" + label + "'");
    std::erase_if(runs, [&](const KeptRun& run) {
      return std::ranges::find(labels, run.label) == labels.end();
    });
    return runs;
  }
};

}  // namespace

Command add_hot(CLI::App& app) {
  auto command = std::make_shared<HotCommand>();
  CLI::App* hot = app.add_subcommand(
      "hot", "the kernels, lines and allocations that kept results spend most on");
  hot->add_option("results", command->files, "kept by --json of run, replay, compare or exec")
      ->required()
      ->type_name("RUN.json ...");
  hot->add_option("--top", command->top, "rows of each list; 0 = all")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  hot->add_option("--policies", command->labels,
                  "only these results of a file of compare, as its --policies called them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,...");
  hot->add_flag("--json", command->json, "as JSON");
  hot->footer(
      "raddle run bfs --json bfs.json --report bfs.html && raddle hot bfs.json\n"
      "Lines and allocations are in a file whose run has had --report beside --json.\n"
      "Colours are for terminals; NO_COLOR=1 turns them off.");
  return {hot, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
