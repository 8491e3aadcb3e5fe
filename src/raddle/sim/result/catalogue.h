// All numbers of results, with unit and meaning: those of src/raddle/stats/metrics.def, the shares
// of stalls and energy, and what policies count.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/stats/metrics.h"

namespace raddle::sim {

struct CatalogueEntry {
  /// As in the result, without `totals`, and without what a launch, kernel, stream or tenant is a
  /// member of: "ipc", "details.loads", "stalls.memory", "policies.warp.statistics.picks".
  std::string name;
  std::string unit, meaning;
  std::string source;  ///< counter, formula, or "policy warp=gto"
  stats::Shown shown = 0;
  std::string ncu;  ///< metric of Nsight Compute with the same definition, or ""
};

/// In the order of metrics.def, then policies by level and name. A name may stand more than once:
/// where it means something else of something else.
std::vector<CatalogueEntry> catalogue(const policy::Registries& policies);

/// {name, unit, meaning, source, shown, ncu}; ncu is null where there is none.
nlohmann::ordered_json to_json(const CatalogueEntry& entry);

/// Those of that name, with or without what stands before its last dot, or of that name in Nsight
/// Compute. Throws InputError naming
/// the
/// nearest name when there is none.
std::vector<CatalogueEntry> find_metrics(const std::vector<CatalogueEntry>& all,
                                         std::string_view name);

/// docs/metrics.md
std::string catalogue_page(const std::vector<CatalogueEntry>& all);
/// web/src/catalogue.ts: names, types and words for the pages.
std::string catalogue_typescript(const std::vector<CatalogueEntry>& all);

}  // namespace raddle::sim
