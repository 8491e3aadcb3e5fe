#include "raddle/lab/plan/program.h"

#include <fmt/format.h>

#include "raddle/lab/plan/cell.h"
#include "raddle/policy/all.h"
#include "raddle_paths.h"

namespace raddle::lab {

namespace {

/// "" of what has no source of ours (a PTX file, a program of the user's own).
std::string part(const sim::SourceHashes& sources, const std::string& name) {
  const auto at = sources.parts.find(name);
  return at == sources.parts.end() ? "" : name + "=" + at->second + ";";
}

}  // namespace

std::string program_name() { return sim::version(); }

std::string program_of_run(const sim::SourceHashes& sources, const sim::Setup& setup,
                           const std::vector<std::string>& workloads) {
  std::string used;
  policy::each_level(
      [&](const policy::Level& level, const auto& choice) {
        const std::string source = part(sources, fmt::format("{}/{}", level.name, choice->name()));
        used += source.empty() ? sim::plugins_hash() : source;  // not one of ours
      },
      setup);
  for (const std::string& workload : workloads) used += part(sources, "workload/" + workload);
  return fmt::format("{}+{}.{}", RADDLE_VERSION, sources.core, hash_text(used).substr(0, 16));
}

std::string program_of_recording(const sim::SourceHashes& sources, const std::string& workload) {
  return fmt::format("{}+{}.{}", RADDLE_VERSION, sources.core,
                     hash_text(part(sources, "workload/" + workload)).substr(0, 16));
}

}  // namespace raddle::lab
