// The parts of experiment files that give names to things: workloads, groups, variants, axes,
// analyses, measures and constants. They stand in paper.toml or in the experiment's own file.
#pragma once
#include "raddle/lab/file/section.h"

namespace raddle::lab {

/// Adds what `file` defines to `experiment`.
void read_definitions(Section& file, Scale scale, Experiment& experiment);

}  // namespace raddle::lab
