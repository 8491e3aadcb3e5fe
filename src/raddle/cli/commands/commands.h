// The commands. Each adds itself to the application and returns what to do when it was chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "raddle/cli/shared/modes.h"

namespace raddle::cli {

/// What an application's options are for.
struct DeclaredModes {
  const CLI::App* app;
  std::shared_ptr<const OptionModes> modes;
};
/// The `modes` of what carries it out, which lives as long.
template <class T>
std::vector<DeclaredModes> modes_of(const CLI::App* app, const std::shared_ptr<T>& command) {
  return {{app, {command, &command->modes}}};
}

/// Returns the exit status; throws InputError and RunError.
using Action = std::function<int()>;
struct Command {
  CLI::App* app;
  Action action;
  /// Of commands that have several: which options hold in which mode, here or in subcommands.
  std::vector<DeclaredModes> modes = {};
};
Command add_list(CLI::App& app);
Command add_run(CLI::App& app, std::vector<std::string> arguments);
Command add_compare(CLI::App& app, std::vector<std::string> arguments);
/// analyze bounds: as compare, each way to run also on machines with a part that has no limits.
Command add_bounds(CLI::App& analyze, std::vector<std::string> arguments);
Command add_exec(CLI::App& app, std::vector<std::string> arguments);
Command add_record(CLI::App& app, const std::vector<std::string>& arguments);
Command add_replay(CLI::App& app, std::vector<std::string> arguments);
Command add_ptx(CLI::App& app);
Command add_analyze(CLI::App& app, const std::vector<std::string>& arguments);
Command add_report(CLI::App& app, std::vector<std::string> arguments);
Command add_explain(CLI::App& app);
Command add_query(CLI::App& app);
Command add_hot(CLI::App& app);
Command add_sweep(CLI::App& app, std::vector<std::string> arguments);
Command add_reproduce(CLI::App& app, std::vector<std::string> arguments);
Command add_cell(CLI::App& app);
Command add_help(CLI::App& app);
Command add_plugin(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_diff(CLI::App& app);
Command add_validate(CLI::App& app, std::vector<std::string> arguments);

}  // namespace raddle::cli
