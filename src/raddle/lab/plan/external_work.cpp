#include "raddle/lab/plan/external_work.h"

#include <fmt/format.h>

#include <map>

#include "raddle/lab/file/external_program.h"
#include "raddle/lab/file/section.h"

namespace raddle::lab {

namespace {

std::string key_of(const Foreign& foreign) { return to_json(foreign).dump() + foreign.folder; }

}  // namespace

void identify(Paper& paper, const Catalogue& catalogue) {
  Problems problems;
  std::map<std::string, Foreign> known;
  for (Experiment& e : paper.experiments)
    for (Workload& workload : e.workloads) {
      if (!workload.foreign) continue;
      Foreign& foreign = *workload.foreign;
      const Place place = foreign.place;
      const auto [at, fresh] = known.try_emplace(key_of(foreign), foreign);
      if (fresh) try {
          catalogue.foreign->identify(at->second);
        } catch (const InputError& error) {
          for (const Diagnostic& d : error.diagnostics())
            problems.add(place, fmt::format("{}: {}", workload.name, d.text()));
        }
      foreign = at->second;
      foreign.place = place;
    }
  problems.finish();
}

}  // namespace raddle::lab
