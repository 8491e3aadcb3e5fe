// raddle cell: one simulation of a sweep, described by a file. What `raddle sweep` starts, here or
// on a cluster; not in the help, as nobody calls it by hand.
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <new>

#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/lab_options.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/plan/cell.h"
#include "raddle/lab/plan/program.h"
#include "raddle/lab/run/executor.h"

namespace raddle::cli {

namespace {

struct CellCommand {
  std::string spec, output;

  int operator()() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // under a wrapper too, nothing outlives the runner
    const auto text = lab::read_whole(spec);
    if (!text) throw InputError({spec}, "cannot be read");
    const lab::CellFile cell = lab::read_cell(parse_json(*text, spec), spec);
    if (const std::string& other = cell.spec.program;
        !other.empty() && other != lab::program_name()) {
      std::fprintf(stderr, "raddle: this program is %s, the sweep is of %s\n",
                   lab::program_name().c_str(), other.c_str());
      return lab::kOtherProgram;
    }
    const std::string result = json_dump(outcome(cell));
    try {
      lab::write_whole(output, result);
    } catch (const RunError& error) {
      std::fprintf(stderr, "raddle: %s\n", error.what());
      return lab::kResultNotWritten;
    }
    return 0;
  }

  static lab::Json outcome(const lab::CellFile& cell) {
    try {
      return lab::run_cell(cell, catalogue());
    } catch (const std::bad_alloc&) {
      return lab::error_result("out_of_memory", "needs more memory than the sweep may use");
    } catch (const std::exception& error) {
      return lab::error_result("error", error.what());
    }
  }
};

}  // namespace

Command add_cell(CLI::App& app) {
  auto command = std::make_shared<CellCommand>();
  CLI::App* cell = app.add_subcommand("cell", "one simulation of a sweep");
  cell->group("");  // not in the help
  cell->add_option("spec", command->spec, "what to run")->required();
  cell->add_option("-o,--output", command->output, "where its result goes")->required();
  return {cell, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
