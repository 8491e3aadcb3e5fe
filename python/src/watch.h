// What Python sees and decides while a simulation runs without its lock.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "convert.h"
#include "raddle/api/simulator.h"

namespace raddle::python {

/// As keyword arguments have it.
struct WatchArguments {
  py::object progress = py::none();  ///< called with what is known now and then; may be None
  Cycle sample_interval = 0;
  std::vector<std::string> analyses;
  bool for_page = false;
};

/// Ctrl-C ends the run, and so does an exception of `progress`. What kernels print goes to
/// sys.stdout. The lock is held when it is made and when it is destroyed.
api::Watch make_watch(const WatchArguments& arguments);

}  // namespace raddle::python
