#include "raddle/sim/result/catalogue.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "raddle/base/error.h"
#include "raddle/config/describer.h"
#include "raddle/energy/energy.h"
#include "raddle/sim/result/metrics_json.h"
#include "raddle/timing/gpu/coherence_statistics.h"

namespace raddle::sim {

using Json = nlohmann::ordered_json;

namespace {

using stats::Part;
using stats::Shown;

constexpr std::string_view prefix_of(Part part) { return part == Part::Details ? "details." : ""; }

class Builder {
 public:
  void add_counted(Part part) {
    for (const stats::Metric& metric : stats::metrics()) {
      if (metric.part != part) continue;
      const std::string name = std::string(prefix_of(part)).append(metric.name);
      if (metric.terms.empty()) add(name, metric, std::string(metric.source), "");
      for (const stats::Term& term : metric.terms)
        add(name + std::string(term.name), metric,
            std::string(metric.source).append("[").append(term.name).append("]"), term.meaning);
    }
  }

  /// What stands beside the stalls in each place that has them but tenants.
  void add_issued() {
    out_.push_back({"stalls.issued", "scheduler-cycles",
                    "scheduler-cycles: " + std::string(stats::kIssuedTerm.meaning), "sm.issued",
                    stats::kRun | stats::kCorun | stats::kKernel, "smsp__issue_active.sum"});
  }

  void add_noc() {
    stats::each_noc_number([&](const std::string& name, const stats::Metric& metric, unsigned) {
      add("details.noc." + name, metric, std::string(metric.source), "");
    });
  }

  void add_energy() {
    for (unsigned c = 0; c < energy::kComponents; ++c) {
      const stats::Term& term = energy::kComponentTerms[c];
      const bool dynamic = c < energy::kDynamicComponents;
      const Shown launches = dynamic ? stats::kKernel : Shown{0};
      out_.push_back({"energy_pj." + std::string(term.name), "pJ",
                      "energy: " + std::string(term.meaning), "energy/energy.cpp",
                      static_cast<Shown>(stats::kRun | stats::kCorun | launches), ""});
    }
  }

  void add_facts() {
    for (const Fact& fact : facts()) {
      const auto [prefix, shown] = place_of(fact.of);
      std::string source(fact.source);
      for (std::size_t arrow; (arrow = source.find("->")) != std::string::npos;)
        source.replace(arrow, 2, ".");
      out_.push_back({std::string(prefix).append(fact.name), std::string(fact.unit),
                      std::string(fact.meaning), source, shown, ""});
    }
  }

  void add_policies(const policy::Registries& policies) {
    const auto add_level = [&](const policy::Level& level, const auto& registry) {
      for (const std::string& name : registry.names()) add_policy(policies, level, registry, name);
    };
    policy::each_level(add_level, policies);
  }

  std::vector<CatalogueEntry> take() { return std::move(out_); }

 private:
  void add(std::string name, const stats::Metric& metric, std::string source,
           std::string_view term) {
    std::string meaning(metric.meaning);
    if (!term.empty()) meaning.append(": ").append(term);
    Shown shown = metric.shown;
    // A launch's warps are there, so these are no reasons of its.
    if (name == "stalls.idle" || name == "stalls.launch")
      shown = static_cast<Shown>(shown & ~stats::kKernel);
    out_.push_back({std::move(name), std::string(metric.unit), std::move(meaning),
                    std::move(source), shown, std::string(metric.ncu)});
  }

  static std::pair<std::string_view, Shown> place_of(FactOf of) {
    switch (of) {
      case FactOf::Launch:
        return {"", stats::kLaunch};
      case FactOf::Group:
        return {"", stats::kGroup};
      case FactOf::Stream:
        return {"", stats::kStream};
      case FactOf::Tenant:
      case FactOf::TenantShare:
      case FactOf::TenantAlone:
        return {"", stats::kTenant};
      case FactOf::Corun:
      case FactOf::Sharing:
        return {"corun.", stats::kCorun};
      case FactOf::Run:
        return {"", stats::kRun | stats::kCorun};
      case FactOf::Peaks:
        return {"peaks.", stats::kRun | stats::kCorun};
      case FactOf::Host:
        return {"host.", stats::kRun | stats::kCorun};
    }
    return {};
  }

  /// An instance says what it counts.
  template <class Interface>
  void add_policy(const policy::Registries& policies, const policy::Level& level,
                  const policy::Registry<Interface>& registry, const std::string& name) {
    typename Interface::Context context;
    const auto kernel = policies.kernel.choose(policy::find_level("kernel")->default_policy);
    const auto block = policies.block.choose(policy::find_level("block")->default_policy);
    if constexpr (requires { context.kernel = kernel.get(); }) {
      context.kernel = kernel.get();
      context.block = block.get();
    }
    const auto policy = registry.choose(name)->make(context);
    config::Describer fields;
    if constexpr (requires { policy->visit_statistics(fields); }) {
      policy->visit_statistics(fields);
    } else if (name != level.default_policy) {
      timing::CoherenceStatistics counted_by_caches;
      counted_by_caches.visit_statistics(fields);
    }
    for (const config::FieldDescription& field : fields.fields())
      out_.push_back(
          {std::string("policies.").append(level.name).append(".statistics.") + field.path,
           field.unit, field.doc, std::string("policy ").append(level.name).append("=") + name,
           stats::kRun | stats::kCorun, ""});
  }

  std::vector<CatalogueEntry> out_;
};

/// Letters to insert, delete or replace until one text is the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace

std::vector<CatalogueEntry> catalogue(const policy::Registries& policies) {
  Builder builder;
  builder.add_counted(Part::Totals);
  builder.add_counted(Part::Execution);
  builder.add_counted(Part::Details);
  builder.add_noc();
  builder.add_issued();
  builder.add_counted(Part::Stalls);
  builder.add_counted(Part::Utilisation);
  builder.add_energy();
  builder.add_facts();
  builder.add_policies(policies);
  return builder.take();
}

Json to_json(const CatalogueEntry& entry) {
  Json shown = Json::array();
  for (std::size_t bit = 0; bit < stats::kShownNames.size(); ++bit)
    if ((entry.shown >> bit & 1) != 0) shown.push_back(stats::kShownNames[bit]);
  return {{"name", entry.name},        {"unit", entry.unit},
          {"meaning", entry.meaning},  {"source", entry.source},
          {"shown", std::move(shown)}, {"ncu", entry.ncu.empty() ? Json() : Json(entry.ncu)}};
}

std::vector<CatalogueEntry> find_metrics(const std::vector<CatalogueEntry>& all,
                                         std::string_view name) {
  std::vector<CatalogueEntry> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const CatalogueEntry& entry) {
    return entry.name == name || last_part(entry.name) == name ||
           (!entry.ncu.empty() && entry.ncu == name);
  });
  if (!out.empty()) return out;
  std::string_view nearest;
  std::size_t minimum = name.size() + 1;
  for (const CatalogueEntry& entry : all)
    for (const std::string_view known : {std::string_view(entry.name), last_part(entry.name)})
      if (const std::size_t distance = edit_distance(name, known); distance < minimum) {
        minimum = distance;
        nearest = known;
      }
  throw InputError("no metric is called '" + std::string(name) + "'" +
                   (nearest.empty() ? "" : "; near: " + std::string(nearest)) +
                   "; `raddle list metrics` names all");
}

}  // namespace raddle::sim
