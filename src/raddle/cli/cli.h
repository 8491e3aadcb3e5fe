// The command line: `raddle COMMAND ...`. Exit status 0 done and result correct, 1 the run failed
// or the result is wrong, 2 usage, configuration or input error.
#pragma once

namespace raddle::cli {

int run(int argc, char** argv);

}  // namespace raddle::cli
