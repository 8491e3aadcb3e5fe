// Programs of the user's own, and recordings, in the place of workloads.
#pragma once
#include <string>
#include <vector>

#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// Puts a program or a recording in the place of workload `name` of every experiment that has it:
/// `text` is FILE.rdl, kernelslist.g, or a program and its arguments, split as a shell does. Those
/// experiments are no longer the paper's: their rows become studies, and lose the numbers that the
/// paper states. Throws InputError when no experiment of `chosen` has such a workload.
void replace_workload(Paper& paper, const std::vector<const Experiment*>& chosen,
                      const std::string& name, const std::string& text);

/// Words of a command as a shell splits them: blanks, quotes, backslashes. Throws InputError when
/// a quote does not end.
std::vector<std::string> split_command(const std::string& text);

/// For documents: {"program", "recording", "identity"}.
Json to_json(const ExternalProgram& external);

}  // namespace raddle::lab
