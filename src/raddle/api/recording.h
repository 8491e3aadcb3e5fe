// What can be replayed: files of raddle record, and traces of others.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "raddle/sim/setup/setup.h"
#include "raddle/trace/recording.h"

namespace raddle::api {

/// Does the name mean a recording (FILE.rdl, kernelslist.g) and not a workload?
bool is_recording(const std::string& name);

/// Throws InputError naming the file and where in it.
std::unique_ptr<trace::Recording> open_recording(const std::string& file);

/// Files of the kernels of an Accel-Sim list. One that cannot be read has none; who reads it says
/// so.
std::vector<std::string> kernel_files_of(const std::string& list);

/// Files that a machine or an experiment in TOML may read: whatever stands in quotes there, where
/// it may lie.
std::vector<std::string> files_named_in(const std::string& file);

/// Throws InputError where `file`, which is to be written, is one that is read. `words` name these
/// or have them as values (KEY=FILE): a work, its parameters, the kernels of its list, a machine
/// and what that names.
void keep_inputs_of(const std::vector<std::string>& words, const std::string& file);

/// A result's run.seed is that of its input. Throws InputError where it is not the one that the
/// inputs of a recording of a workload were made with (programs and traces have no such seed), and
/// where run.live asks for an execution.
void check_run(const trace::Recording& recording, const std::string& file, const sim::Setup& setup);

}  // namespace raddle::api
