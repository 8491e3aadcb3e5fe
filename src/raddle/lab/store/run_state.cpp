#include "raddle/lab/store/run_state.h"

namespace raddle::lab {

std::vector<RunState> stored_states(const Plan& plan, Store& store) {
  std::vector<RunState> out;
  for (const PlannedRun& run : plan.runs) {
    RunState state;
    if (const auto stored = store.find(run)) {
      state.kind = stored->done ? RunState::Kind::Done : RunState::Kind::Failed;
      state.error = stored->error;
      state.wall_seconds = stored->wall_seconds;
      if (stored->done) state.metrics = store.metrics(stored->id);
    }
    out.push_back(std::move(state));
  }
  return out;
}

}  // namespace raddle::lab
