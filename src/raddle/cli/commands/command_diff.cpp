// raddle diff gpus A B: in which settings two machines differ.
#include <cstdio>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/gpu_settings.h"

namespace raddle::cli {

namespace {

struct DiffCommand {
  std::string what, a, b;
  bool json = false;

  int operator()() const {
    const GpuDescription first = describe_gpu(a), second = describe_gpu(b);
    const std::string text = json ? json_dump(gpu_difference_json(first, second), 2) + "\n"
                                  : gpu_difference_text(first, second);
    std::fputs(text.c_str(), stdout);
    return 0;
  }
};

}  // namespace

Command add_diff(CLI::App& app) {
  auto command = std::make_shared<DiffCommand>();
  CLI::App* diff = app.add_subcommand("diff", "in which settings two machines differ");
  diff->add_option("what", command->what, "gpus")->required()->check(CLI::IsMember({"gpus"}));
  diff->add_option("a", command->a, "one machine, by name or file")->required()->type_name("A");
  diff->add_option("b", command->b, "the other")->required()->type_name("B");
  diff->add_flag("--json", command->json, "as JSON, with the sources of the values");
  return {diff, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
