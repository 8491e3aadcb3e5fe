#include "raddle/cli/cli.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/cli/commands.h"
#include "raddle/sim/version.h"

namespace raddle::cli {

namespace {

constexpr int kFailed = 1, kBadInput = 2;

int parse_and_run(int argc, char** argv) {
  CLI::App app("Raddle: a cycle-level GPU simulator and laboratory for scheduling", "raddle");
  app.set_version_flag("--version", "raddle " + sim::version());
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done and result correct, 1 the run failed or the result is wrong,\n"
      "2 usage, configuration or input error. `raddle COMMAND --help` explains each command.");
  const std::vector<std::string> arguments(argv, argv + argc);
  const std::vector<Command> commands = {add_list(app),
                                         add_run(app, arguments),
                                         add_compare(app, arguments),
                                         add_exec(app, arguments),
                                         add_record(app),
                                         add_replay(app, arguments),
                                         add_ptx(app),
                                         add_analyze(app, arguments),
                                         add_report(app),
                                         add_sweep(app, arguments),
                                         add_reproduce(app, arguments),
                                         add_cell(app),
                                         add_validate(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      std::fprintf(stderr, "raddle: there is no command '%s' (see raddle --help)\n", argv[1]);
      return kBadInput;
    }
    std::fprintf(stderr, "raddle: %s (see raddle %s--help)\n", error.what(),
                 app.get_subcommands().empty()
                     ? ""
                     : (app.get_subcommands().front()->get_name() + " ").c_str());
    return kBadInput;
  }
  for (const Command& command : commands)
    if (command.app->parsed()) return command.action();
  return kBadInput;
}

}  // namespace

int run(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const InputError& error) {
    std::fprintf(stderr, "raddle: %s\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "raddle: the system gives this process no more memory\n");
    return kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "raddle: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace raddle::cli
