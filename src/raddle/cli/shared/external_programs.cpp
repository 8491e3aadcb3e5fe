#include "raddle/cli/shared/external_programs.h"

#include <fmt/format.h>

#include <filesystem>

#include "raddle/accelsim/kernels_list.h"
#include "raddle/api/recording.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/sim/result/identity.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

std::string recording_of(const lab::ExternalProgram& external) {
  return fs::path(external.folder) / external.file;
}

/// Of a recording the whole file, of a trace the files of its kernels too.
std::uint64_t content_of(const std::string& file) {
  std::uint64_t hash = sim::hash_of_file(file);
  if (accelsim::is_kernels_list(file))
    for (const accelsim::Command& command : accelsim::read_kernels_list(file))
      if (!command.kernel_file.empty()) hash = sim::hash_of_file(command.kernel_file, hash);
  return hash;
}

std::uint64_t content_of(const lab::ExternalProgram& external) {
  if (external.command.empty()) return content_of(recording_of(external));
  return program_hash(external.command, external.folder, external.inputs);
}

std::string identity_of(const lab::ExternalProgram& external) {
  return fmt::format("{:016x}", content_of(external));
}

}  // namespace

void HostPrograms::identify(lab::ExternalProgram& external) const {
  if (external.command.empty()) {
    const auto recording = api::open_recording(recording_of(external));
    external.name = recording->header().at("workload");
    external.parameters = recording->header().at("parameters");
  } else {
    external.name = fs::path(external.command.front()).filename().string();
    external.parameters = {{"arguments", std::vector<std::string>(external.command.begin() + 1,
                                                                  external.command.end())}};
  }
  external.identity = identity_of(external);
}

lab::Json HostPrograms::record(const lab::ExternalProgram& external, sim::Setup& setup,
                               const sim::Options& options, const std::string& file) const {
  if (external.command.empty()) {
    const auto recording = api::open_recording(recording_of(external));
    return sim::to_json(sim::convert(*recording, setup, options, file));
  }
  const std::uint64_t content = content_of(external);
  if (fmt::format("{:016x}", content) != external.identity)
    throw InputError(
        external.command.front() +
        ": the program, a library of it or a file that it is given has changed since the sweep "
        "began");
  return lab::Json::parse(
      record_program({external.command, external.folder, content}, setup, options, file));
}

}  // namespace raddle::cli
