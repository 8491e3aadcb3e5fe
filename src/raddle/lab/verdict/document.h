// From runs to verdicts: the reproduction document (schema 1), which the report draws and scripts
// read. Its form is fixed in experiments/README.md.
#pragma once
#include <string>
#include <vector>

#include "raddle/lab/store/run_state.h"
#include "raddle/lab/verdict/named_tests.h"

namespace raddle::lab {

struct DocumentHead {
  std::string command, date;
  Scale scale = Scale::Quick;
  Json machine;             ///< {"name", "config"}; null when nothing is simulated
  TestOutcomes tests = {};  ///< of the tests that rows name; none when they were not run
};

/// `states` by position in plan.runs.
Json document(const Paper& paper, const Plan& plan, const std::vector<RunState>& states,
              const DocumentHead& head);

/// Do all rows pass, or are tested elsewhere?
bool all_pass(const Json& document);
/// Does a row fail? One that has not run does not.
bool any_fails(const Json& document);

}  // namespace raddle::lab
