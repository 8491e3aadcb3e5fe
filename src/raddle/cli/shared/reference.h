// Commands and options as tables, read off the parser that takes them, and what is made of these:
// the manual page, completions of shells, JSON. So none of them can say what the program does not.
#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace raddle::cli {

struct OptionReference {
  std::vector<std::string> names;    ///< "--output", "-o"; of a positional its one name
  std::string value;                 ///< "FILE.html"; "" for a flag
  std::string description, initial;  ///< initial: "" for none
  std::string group;                 ///< heading in the help
  std::vector<std::string> choices;  ///< all there are; empty where anything may stand
};
struct CommandReference {
  std::string name;  ///< "analyze source"; "" is the program itself
  std::string description, footer;
  std::vector<OptionReference> positionals, options;
};

/// The program, then each command and its subcommands in the order of the help.
std::vector<CommandReference> reference_of(const CLI::App& app);

nlohmann::ordered_json to_json(const std::vector<CommandReference>& all);
/// For man(1), section 1.
std::string man_page(const std::vector<CommandReference>& all, const std::string& version);

/// What words may stand where, besides an option's own choices.
struct KnownNames {
  std::vector<std::string> gpus, workloads, policies, experiments;
};
/// `shell` is "bash", "zsh" or "fish".
std::string completion(const std::vector<CommandReference>& all, const KnownNames& names,
                       const std::string& shell);

}  // namespace raddle::cli
