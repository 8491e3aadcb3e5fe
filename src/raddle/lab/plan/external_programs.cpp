#include "raddle/lab/plan/external_programs.h"

#include <fmt/format.h>

#include <map>

#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/section.h"

namespace raddle::lab {

namespace {

std::string key_of(const ExternalProgram& external) {
  return to_json(external).dump() + external.folder;
}

}  // namespace

void identify(Paper& paper, const Catalogue& catalogue) {
  Problems problems;
  std::map<std::string, ExternalProgram> known;
  for (Experiment& e : paper.experiments)
    for (Workload& workload : e.workloads) {
      if (!workload.external) continue;
      RADDLE_ASSERT(catalogue.external != nullptr);
      ExternalProgram& external = *workload.external;
      const Place place = external.place;
      const auto [at, fresh] = known.try_emplace(key_of(external), external);
      if (fresh) try {
          catalogue.external->identify(at->second);
        } catch (const InputError& error) {
          for (const Diagnostic& d : error.diagnostics())
            problems.add(place, fmt::format("{}: {}", workload.name, d.text()));
        }
      external = at->second;
      external.place = place;
    }
  problems.finish();
}

}  // namespace raddle::lab
