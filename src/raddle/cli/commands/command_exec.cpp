// raddle exec: an unmodified CUDA program.
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/exec.h"

namespace raddle::cli {

Command add_exec(CLI::App& app, std::vector<std::string> arguments) {
  struct ExecCommand {
    CommonOptions common;
    std::vector<std::string> words, arguments;
    OptionModes modes{"exec", {Mode::Program, Mode::Functional}};
  };
  auto command = std::make_shared<ExecCommand>();
  command->arguments = std::move(arguments);
  CLI::App* exec =
      app.add_subcommand("exec", "run an unmodified CUDA program on the simulated GPU");
  exec->add_option("program", command->words, "after --: the program and its arguments")
      ->required()
      ->type_name("-- PROGRAM [ARGUMENT ...]");
  command->common.add_to(*exec, command->modes);
  command->common.add_out_of_bounds_to(*exec, command->modes);
  command->common.add_checks_to(*exec, command->modes);
  exec->footer(
      "The program must use the shared CUDA runtime and hold PTX:\n"
      "  nvcc -cudart shared -arch=sm_80 -o app app.cu\n"
      "  raddle exec --gpu v100 -- ./app\n"
      "Exit status 1 also when the program ends with another than 0, or called what is not "
      "supported.");
  return {exec,
          [command] {
            command->common.check();
            command->modes.check(command->common.functional ? Mode::Functional : Mode::Program);
            return execute(command->common, command->words, "", command->arguments);
          },
          modes_of(exec, command)};
}

}  // namespace raddle::cli
