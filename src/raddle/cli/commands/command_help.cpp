// raddle help --man, --completion SHELL, --json: what the parser of the commands knows, in other
// forms. `raddle help COMMAND` is `raddle COMMAND --help` and does not come here.
#include <cstdio>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/reference.h"
#include "raddle/lab/file/library.h"
#include "raddle/policy/all.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/result/version.h"
#include "raddle/sim/setup/gpus.h"

namespace raddle::cli {

namespace {

KnownNames known_names() {
  KnownNames out;
  for (const sim::EmbeddedToml& gpu : sim::embedded_gpus()) out.gpus.emplace_back(gpu.name);
  out.workloads = runtime::all_workloads().names();
  const policy::Registries policies = policy::all_policies();
  policy::each_level(
      [&](const policy::Level& level, const auto& registry) {
        for (const std::string& name : registry.names())
          out.policies.push_back(std::string(level.name) + "=" + name);
      },
      policies);
  const lab::Library library("");
  for (const std::string& name : library.papers()) {
    out.experiments.push_back(name);
    for (const lab::Experiment& e : library.paper(name, lab::Scale::Quick).experiments)
      out.experiments.push_back(e.full_id());
  }
  return out;
}

struct HelpCommand {
  const CLI::App* app = nullptr;
  bool man = false, json = false;
  std::string shell;

  int operator()() const {
    const std::vector<CommandReference> all = reference_of(*app);
    std::string text;
    if (man) text = man_page(all, sim::version());
    else if (json) text = json_dump(to_json(all), 2) + "\n";
    else text = completion(all, known_names(), shell);
    std::fputs(text.c_str(), stdout);
    return 0;
  }
};

}  // namespace

Command add_help(CLI::App& app) {
  auto command = std::make_shared<HelpCommand>();
  command->app = &app;
  CLI::App* help = app.add_subcommand("help", "the manual page, completions of shells, JSON");
  help->group("");  // of use where the program is installed
  CLI::Option_group* form = help->add_option_group("form");
  form->add_flag("--man", command->man, "all commands as a page for man(1)");
  form->add_flag("--json", command->json, "all commands and options as JSON");
  form->add_option("--completion", command->shell, "a completion script")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  form->require_option(1);
  return {help, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
