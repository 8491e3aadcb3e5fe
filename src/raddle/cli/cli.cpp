#include "raddle/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/base/shortened.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/early_end.h"
#include "raddle/cli/shared/output.h"
#include "raddle/config/spelling.h"
#include "raddle/policy/interface_hash.h"  // generated
#include "raddle/policy/plugins.h"
#include "raddle/sim/result/commit.h"
#include "raddle/sim/result/version.h"

namespace raddle::cli {

namespace {

constexpr int kFailed = 1, kBadInput = 2;

/// --plugin FILE, before or after the command: from here on all_policies() has what is in it, and
/// so have the processes that this one starts.
void use_plugins(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) {
    if (file.find(':') != std::string::npos)
      throw InputError("--plugin " + file + ": a path with ':' cannot be handed on");
    all += (all.empty() ? "" : ":") + std::filesystem::absolute(file).string();
  }
  setenv(policy::kPluginsVariable, all.c_str(), 1);
  policy::all_policies();  // refuses a bad one before anything else is looked at
}

/// The words without "--plugin FILE", whose files go to `files`: it may stand anywhere before "--",
/// and no command need know of it.
std::vector<char*> without_plugins(int argc, char** argv, std::vector<std::string>& files) {
  const std::string_view name = "--plugin";
  std::vector<char*> out;
  int i = 0;
  for (; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word == name && i + 1 < argc) files.emplace_back(argv[++i]);
    else if (word.starts_with("--plugin=")) files.emplace_back(word.substr(name.size() + 1));
    else out.push_back(argv[i]);
  }
  out.insert(out.end(), argv + i, argv + argc);
  return out;
}

/// compare, validate and analyze bounds find the program behind "--" by themselves
/// (words_of_program): CLI11 takes nothing from there once an option stands behind a workload.
void leave_program_out(std::vector<char*>& words) {
  const auto is = [&](std::size_t at, std::string_view word) {
    return words.size() > at && words[at] == word;
  };
  if (is(1, "compare") || is(1, "validate") || (is(1, "analyze") && is(2, "bounds")))
    words.erase(std::ranges::find(words, std::string_view("--")), words.end());
}

/// "help COMMAND" is "COMMAND --help"; "help --OPTION" is a command of its own.
void say_help(std::vector<char*>& words) {
  static char option[] = "--help";
  if (words.size() < 2 || std::string_view(words[1]) != "help") return;
  if (words.size() > 2 && words[2][0] == '-') return;
  words.erase(words.begin() + 1);
  words.push_back(option);
}

/// CLI11 names the words it has no place for, last first, and a program's among them. What is
/// wrong stands before "--": an option that there is not, or a word too many.
std::string unexpected(const CLI::App& command, const std::vector<std::string>& words) {
  const std::vector<std::string> left = command.remaining(true);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty())  // else it is not listed
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (std::size_t i = 2; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (!name.starts_with("--") || std::ranges::count(left, words[i]) == 0) continue;
    const std::string near = config::nearest(name, names);
    return "there is no option '" + valid_utf8(name) + "'" +
           (near.empty() ? "" : "; did you mean '" + near + "'?");
  }
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return "";
  return "expected nothing but options before the program behind --";
}

/// The command that the first word names; all of them where it names none. To add the options of
/// all commands takes 4.8 million instructions (docs/performance.md).
std::vector<Command> add_commands(CLI::App& app, std::string_view first_word,
                                  const std::vector<std::string>& arguments) {
  const std::pair<std::string_view, std::function<Command()>> known[] = {
      {"list", [&] { return add_list(app); }},
      {"run", [&] { return add_run(app, arguments); }},
      {"compare", [&] { return add_compare(app, arguments); }},
      {"exec", [&] { return add_exec(app, arguments); }},
      {"record", [&] { return add_record(app, arguments); }},
      {"replay", [&] { return add_replay(app, arguments); }},
      {"ptx", [&] { return add_ptx(app); }},
      {"analyze", [&] { return add_analyze(app, arguments); }},
      {"explain", [&] { return add_explain(app); }},
      {"query", [&] { return add_query(app); }},
      {"hot", [&] { return add_hot(app); }},
      {"report", [&] { return add_report(app, arguments); }},
      {"sweep", [&] { return add_sweep(app, arguments); }},
      {"reproduce", [&] { return add_reproduce(app, arguments); }},
      {"cell", [&] { return add_cell(app); }},
      {"validate", [&] { return add_validate(app, arguments); }},
      {"diff", [&] { return add_diff(app); }},
      {"plugin", [&] { return add_plugin(app); }},
      {"doctor", [&] { return add_doctor(app); }},
      {"help", [&] { return add_help(app); }}};
  if (first_word != "help")  // which describes them all
    for (const auto& [name, add] : known)
      if (name == first_word) return {add()};
  std::vector<Command> all;
  for (const auto& [name, add] : known) {
    all.push_back(add());
    RADDLE_ASSERT(all.back().app->get_name() == name);
  }
  return all;
}

#ifdef __clang__
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

/// Lines of their own: the first is what results say.
std::string built_from() {
  const std::string_view commit = sim::commit();
  return (commit.empty() ? "" : "\ncommit " + std::string(commit)) + "\ncompiler " + kCompiler +
         "\nplug-in interface " RADDLE_POLICY_INTERFACE;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Raddle: a cycle-level GPU simulator and laboratory for scheduling", "raddle");
  app.set_version_flag("--version", "raddle " + sim::version() + built_from());
  app.require_subcommand(1);
  std::vector<std::string> plugins, for_help;
  std::vector<char*> words = without_plugins(argc, argv, plugins);
  leave_program_out(words);
  say_help(words);
  app.add_option("--plugin", for_help,
                 "policies of your own, from a file that `raddle plugin` has made")
      ->type_name("FILE.so")
      ->take_all();
  app.footer(
      "Exit status: 0 done and result correct, 1 the run failed or the result is wrong,\n"
      "2 usage, configuration or input error. `raddle COMMAND --help` explains each command.");
  const std::vector<std::string> arguments(argv, argv + argc);
  const std::vector<Command> commands =
      add_commands(app, words.size() > 1 ? words[1] : "", arguments);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      std::fprintf(stderr, "raddle: %s (see raddle --help)\n",
                   shortened("there is no command '" + std::string(argv[1]) + "'").c_str());
      return kBadInput;
    }
    std::string why = error.what(), name;
    if (!app.get_subcommands().empty()) {
      const CLI::App& command = *app.get_subcommands().front();
      for (const CLI::App* at = &command; at != nullptr;) {
        name += at->get_name() + " ";
        const auto inner = at->get_subcommands();
        at = inner.empty() ? nullptr : inner.front();
      }
      if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
        if (const std::string better = unexpected(command, arguments); !better.empty())
          why = better;
    }
    std::fprintf(stderr, "raddle: %s (see raddle %s--help)\n", shortened(why).c_str(),
                 name.c_str());
    return kBadInput;
  }
  keep_inputs(std::span(arguments).subspan(1));
  if (!plugins.empty()) use_plugins(plugins);
  for (const Command& command : commands)
    if (command.app->parsed()) return command.action();
  return kBadInput;
}

/// Whoever reads what was printed must not take a part for the whole.
int printed(int status) {
  errno = 0;
  const bool all = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (all) return status;
  std::fprintf(stderr, "raddle: cannot write to standard output%s%s\n", errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  return status == 0 ? kFailed : status;
}

}  // namespace

namespace {
/// What fails of ours is a RunError: another exception is the standard library's, or a plug-in's.
std::string whose(const std::exception& error) {
  const std::vector<std::string> files = policy::plugin_files();
  if (dynamic_cast<const RunError*>(&error) != nullptr || files.empty()) return "";
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "" : ", ") + file;
  return " (an exception of the standard library, or of a policy of " + out + ")";
}
}  // namespace

int run(int argc, char** argv) {
  const CommandUnderWay under_way;
  try {
    return printed(parse_and_run(argc, argv));
  } catch (const InputError& error) {
    std::fprintf(stderr, "raddle: %s\n", error.what());
    return kBadInput;
  } catch (const std::bad_alloc& error) {
    // No word that needs memory.
    std::fputs("raddle: the system gives this process no more memory\n", stderr);
    return kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "raddle: %s%s\n", shortened(plain_words(error)).c_str(),
                 shortened(whose(error)).c_str());
    return kFailed;
  } catch (...) {  // ours are all of the kinds above
    std::fputs("raddle: a policy of a plug-in threw something that is no std::exception\n", stderr);
    return kFailed;
  }
}

}  // namespace raddle::cli
