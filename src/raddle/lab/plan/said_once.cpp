#include "raddle/lab/plan/said_once.h"

#include "raddle/config/said_once.h"
#include "raddle/sim/setup/policy_names.h"

namespace raddle::lab {

namespace {

/// With the place of what says it a second time.
template <class F>
void at_place(const Place& place, F add) {
  try {
    add();
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
}

void add_all(config::SaidOnce& said, const Settings& settings, const std::string& where) {
  for (const Setting& setting : settings)
    at_place(setting.place, [&] { said.add_path(setting.path, where + "'" + setting.path + "'"); });
}

void check_alone(const Settings& settings) {
  config::SaidOnce said;
  add_all(said, settings, "");
}

}  // namespace

void check_said_once(const Experiment& e, const Cell& cell, const std::vector<PlacedText>& policies,
                     const policy::Registries& known) {
  const Variant& variant = e.variants[cell.variant];
  check_alone(e.set);
  check_alone(e.workloads[cell.workload].set);
  config::SaidOnce of_variant, names, swept, parameters;
  for (const PlacedText& policy : policies)
    at_place(policy.place, [&] {
      const std::string said = "policy '" + policy.text + "'",
                        whole = sim::with_level(policy.text, known);
      of_variant.add_policy(whole, said);
      names.add_path("policy." + whole.substr(0, whole.find('=')) + ".name", said);
    });
  add_all(of_variant, variant.set, "variant " + variant.name + ": ");
  for (std::size_t a = 0; a < cell.points.size(); ++a) {
    if (cell.points[a] == kUnset) continue;
    const AxisPoint& point = e.axes[a].points[static_cast<std::size_t>(cell.points[a])];
    const std::string where = "axis " + e.axes[a].name + ": ";
    add_all(swept, point.set, where);
    add_all(parameters, point.parameters, where);
    for (const Setting& setting : point.set)
      if (setting.path.starts_with("policy.") && setting.path.ends_with(".name"))
        at_place(setting.place,
                 [&] { names.add_path(setting.path, where + "'" + setting.path + "'"); });
  }
}

}  // namespace raddle::lab
