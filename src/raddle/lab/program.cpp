#include "raddle/lab/program.h"

#include "raddle/sim/version.h"

namespace raddle::lab {

std::string program_name() { return sim::version(); }

}  // namespace raddle::lab
