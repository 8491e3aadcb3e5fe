// How the runs of a plan came out.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "raddle/lab/store/store.h"

namespace raddle::lab {

struct RunState {
  enum class Kind : std::uint8_t { Done, Failed, Missing } kind = Kind::Missing;
  std::string error;
  double wall_seconds = 0;
  std::map<std::string, double> metrics;
};

/// By position in plan.runs: what the store knows of them, without running anything.
std::vector<RunState> stored_states(const Plan& plan, Store& store);

}  // namespace raddle::lab
