// raddle plugin: compiles policies of the user's own to a file for --plugin. The work is a script's
// (scripts/plugin.sh), which has the headers of this very program at hand.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/installation.h"

namespace raddle::cli {

namespace {

struct PluginCommand {
  std::vector<std::string> sources;
  std::string output;

  int operator()() const {
    const auto script = find_support_file("plugin.sh");
    if (!script)
      throw InputError("plugin.sh, which compiles plug-ins, is not " + support_folders_text() +
                       "; install Raddle with its headers, or use ./x plugin in its sources");
    std::vector<std::string> words = {script->string()};
    words.insert(words.end(), sources.begin(), sources.end());
    words.insert(words.end(), {"-o", output});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv.front(), argv.data());
    throw RunError("cannot start " + words.front() + ": " + std::strerror(errno));
  }
};

}  // namespace

Command add_plugin(CLI::App& app) {
  auto command = std::make_shared<PluginCommand>();
  CLI::App* plugin =
      app.add_subcommand("plugin", "compile policies of your own to a file for --plugin");
  plugin
      ->add_option("sources", command->sources, "each with a policy, as in docs/adding-a-policy.md")
      ->required()
      ->type_name("FILE.cpp ...");
  plugin->add_option("-o,--output", command->output, "the plug-in")
      ->required()
      ->type_name("FILE.so");
  plugin->footer(
      "  raddle plugin own_policy.cpp -o own_policy.so\n"
      "  raddle run bfs --plugin own_policy.so --policy warp=youngest\n"
      "It needs a C++20 compiler ($CXX, or g++).");
  return {plugin, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
