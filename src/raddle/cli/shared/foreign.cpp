#include "raddle/cli/shared/foreign.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "raddle/accelsim/kernels_list.h"
#include "raddle/cli/shared/cuda_program.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/recording.h"
#include "raddle/sim/result/identity.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

std::string recording_of(const lab::Foreign& foreign) {
  return fs::path(foreign.folder) / foreign.file;
}

/// Of a recording the whole file, of a trace the files of its kernels too.
std::uint64_t content_of(const std::string& file) {
  std::uint64_t hash = sim::hash_of_file(file);
  if (accelsim::is_kernels_list(file))
    for (const accelsim::Command& command : accelsim::read_kernels_list(file))
      if (!command.kernel_file.empty()) hash = sim::hash_of_file(command.kernel_file, hash);
  return hash;
}

std::uint64_t content_of(const lab::Foreign& foreign) {
  if (foreign.command.empty()) return content_of(recording_of(foreign));
  return sim::hash_of_program(find_program(path_in(foreign.folder, foreign.command.front())).path,
                              std::span(foreign.command).subspan(1), foreign.folder,
                              foreign.inputs);
}

std::string identity_of(const lab::Foreign& foreign) {
  return fmt::format("{:016x}", content_of(foreign));
}

}  // namespace

void ForeignPrograms::identify(lab::Foreign& foreign) const {
  if (foreign.command.empty()) {
    const auto recording = open_recording(recording_of(foreign));
    foreign.name = recording->header().at("workload");
    foreign.parameters = recording->header().at("parameters");
  } else {
    foreign.name = fs::path(foreign.command.front()).filename().string();
    foreign.parameters = {{"arguments", std::vector<std::string>(foreign.command.begin() + 1,
                                                                 foreign.command.end())}};
  }
  foreign.identity = identity_of(foreign);
}

lab::Json ForeignPrograms::record(const lab::Foreign& foreign, sim::Setup& setup,
                                  const sim::Options& options, const std::string& file) const {
  if (foreign.command.empty()) {
    const auto recording = open_recording(recording_of(foreign));
    return sim::to_json(sim::convert(*recording, setup, options, file));
  }
  const std::uint64_t content = content_of(foreign);
  if (fmt::format("{:016x}", content) != foreign.identity)
    throw InputError(
        foreign.command.front() +
        ": the program, or a file that it is given, has changed since the sweep began");
  return lab::Json::parse(
      record_program({foreign.command, foreign.folder, content}, setup, options, file));
}

}  // namespace raddle::cli
