// The commands. Each adds itself to the application and returns what to do when it was chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

namespace raddle::cli {

/// Returns the exit status; throws InputError and RunError.
using Action = std::function<int()>;
struct Command {
  CLI::App* app;
  Action action;
};

Command add_list(CLI::App& app);
Command add_run(CLI::App& app, std::vector<std::string> arguments);
Command add_compare(CLI::App& app, std::vector<std::string> arguments);
Command add_exec(CLI::App& app, std::vector<std::string> arguments);
Command add_record(CLI::App& app);
Command add_replay(CLI::App& app, std::vector<std::string> arguments);
Command add_ptx(CLI::App& app);
Command add_analyze(CLI::App& app, const std::vector<std::string>& arguments);
Command add_report(CLI::App& app);
Command add_sweep(CLI::App& app, std::vector<std::string> arguments);
Command add_reproduce(CLI::App& app, std::vector<std::string> arguments);
Command add_cell(CLI::App& app);
Command add_validate(CLI::App& app, std::vector<std::string> arguments);

}  // namespace raddle::cli
