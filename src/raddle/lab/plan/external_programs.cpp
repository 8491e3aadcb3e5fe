#include "raddle/lab/plan/external_programs.h"

#include <fmt/format.h>

#include <map>

#include "raddle/base/json.h"
#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/section.h"

namespace raddle::lab {

namespace {

std::string key_of(const ExternalProgram& external) {
  return json_dump(to_json(external)) + external.folder;
}

/// Workers find them through JSON.
void check_utf8(const ExternalProgram& external) {
  std::vector<std::string> names = external.command;
  names.insert(names.end(), external.inputs.begin(), external.inputs.end());
  names.insert(names.end(), {external.file, external.folder});
  for (const std::string& name : names)
    if (!is_utf8(name)) throw InputError(valid_utf8(name) + ": expected a name in UTF-8");
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
          check_utf8(external);
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
