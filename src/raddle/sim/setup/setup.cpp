#include "raddle/sim/setup/setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/config/reader.h"
#include "raddle/config/writer.h"
#include "raddle/policy/scheme/by_tenant_fields.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/ownership.h"

namespace raddle::sim {

namespace {

/// Settings that came later: where they change nothing they are left out, so that the results of
/// whoever does not use them, and their hashes, stay what they were.
void leave_out_unused(nlohmann::ordered_json& config) {
  auto leave_out = [](nlohmann::ordered_json& table, const char* key, const auto& unused) {
    if (table.at(key) == unused) table.erase(key);
  };
  leave_out(config.at("kernels"), "gap_cycles", 0);
  nlohmann::ordered_json& l1d = config.at("sm").at("l1d");
  leave_out(l1d, "unified_kib", 0);
  leave_out(l1d, "shared_kib_choices", "");
  leave_out(config.at("sm"), "lsu_sector_banks", false);
  leave_out(config.at("isa"), "order", "as_written");
  leave_out(config.at("run"), "cold_l2", false);
  leave_out(config.at("run"), "sampling_error", 0.0);
}

}  // namespace

void RunSettings::visit(FieldVisitor& v) {
  v.field("seed", seed, {}, "", "seed of the inputs and of every random choice");
  v.field("live", live,
          "execute just ahead of timing, for programs whose result depends on timing");
  v.field("cold_l2", cold_l2,
          "a launch of the host waits for those before it and finds the L2 empty, as under ncu");
  v.field("sampling_error", sampling_error, {0, 0.5}, "",
          "launches like those timed before are estimated once their cycles are known within this "
          "share; 0: every launch is timed");
}

void DeviceSpec::visit(FieldVisitor& v) {
  v.field("compute_capability", compute_capability, {10, 129}, "",
          "10 x major + minor, as programs are told; of their PTX the newest up to this is taken");
  v.field("memory_gib", memory_gib, {1, 256}, "GiB", "device memory");
}

Setup::Setup(const policy::Registries& policies) {
  policy::each_level([](const policy::Level& level, const auto& registry,
                        auto& choice) { choice = registry.choose(level.default_policy); },
                     policies, *this);
}

bool Setup::replaced(std::string_view level) const {
  return (level == policy::KernelPolicy::kLevel || level == policy::BlockPolicy::kLevel) &&
         dispatch->name() != "two_step";
}

timing::PolicyChoices Setup::choices() const {
  timing::PolicyChoices out;
  policy::each_level(
      [](const policy::Level&, const auto& choice, auto& pointer) { pointer = choice.get(); },
      *this, out);
  return out;
}

void check_together(const Setup& setup) { timing::checked(setup.machine, setup.choices()); }

void check_tenants(const Setup& setup, std::size_t tenants) {
  const auto parameters = [](policy::Choice<policy::SchemePolicy>& scheme) {
    config::JsonWriter writer;
    scheme.visit(writer);
    return writer.take();
  };
  const nlohmann::ordered_json unset = parameters(*setup.scheme->fresh());
  const nlohmann::ordered_json set = parameters(*setup.scheme);
  for (const auto& [name, value] : set.items()) {
    const auto tenant = policy::tenant_of_field(name);
    if (!tenant || *tenant < tenants || value == unset.at(name)) continue;
    throw InputError(fmt::format(
        "policy.scheme.{} = {}: expected parameters of tenants that are there (0 to {}), found one "
        "of tenant {}",
        name, json_dump(value), tenants - 1, *tenant));
  }
}

nlohmann::ordered_json Setup::config() {
  config::JsonWriter writer;
  machine.visit(writer);
  writer.nested("device", device, "");
  writer.nested("isa", isa, "");
  writer.nested("energy", energy, "");
  writer.enter("policy", "");
  policy::each_level(
      [&](const policy::Level& level, auto& choice) {
        std::string name(choice->name());
        if (!level.shows(name) || replaced(level.name)) return;
        writer.enter(level.name, "");
        writer.field("name", name, "");
        choice->visit(writer);
        writer.leave();
      },
      *this);
  writer.leave();
  writer.nested("run", run, "");
  nlohmann::ordered_json out = writer.take();
  leave_out_unused(out);
  return out;
}

namespace {

template <class Interface>
void read_policy(config::Reader& reader, const policy::Level& level,
                 const policy::Registry<Interface>& registry, ChosenPolicy<Interface>& choice) {
  reader.enter(level.name, level.doc);
  std::string name(choice->name());
  reader.field("name", name, "name of the policy");
  try {
    choice = registry.choose(name);
    choice->visit(reader);
  } catch (const InputError& error) {
    reader.fail("name", error.what());
    reader.ignore_rest();
  }
  reader.leave();
}

/// Costs of the table that is named, then those that the document has itself.
void read_energy(config::Reader& reader, const config::Tree& tree, energy::EnergySpec& spec) {
  reader.enter("energy", "");
  const config::Node* named = tree.find("energy.table");
  const std::string* name = named ? std::get_if<std::string>(&named->value) : nullptr;
  if (name && !name->empty()) try {
      const config::Tree table = load_energy(*name);
      config::Reader costs(table);
      costs.nested("energy", spec, "");
      costs.finish();
    } catch (const InputError& error) {
      reader.fail("table", error.what());
    }
  spec.visit(reader);
  reader.leave();
}

/// What each number allows and all of them together do not.
void check_rules(config::Reader& reader, Setup& setup) {
  for (const std::string& rule : setup.machine.violations()) reader.fail(rule);
  if ((setup.machine.ideal.l1d || setup.machine.ideal.l2) && caches_own_lines(setup))
    reader.fail("ideal.l1d and ideal.l2 know no caches that own lines (policy.coherence.name = \"" +
                std::string(setup.coherence->name()) + "\")");
  const timing::SmSpec& sm = setup.machine.sm;
  const timing::L2Spec& l2 = setup.machine.l2;
  const policy::MachineFacts facts{sm.warps,
                                   sm.l1d.present(),
                                   sm.l1d.store_buffer != 0,
                                   setup.machine.noc.topology == timing::Topology::Mesh,
                                   sm.count,
                                   std::max(sm.l1d.line_bytes, l2.line_bytes),
                                   std::min(sm.l1d.sector_bytes, l2.sector_bytes)};
  policy::each_level(
      [&](const policy::Level&, auto& choice) {
        for (const std::string& rule : choice->violations(facts)) reader.fail(rule);
      },
      setup);
}

/// A dispatch policy other than two_step decides what kernel and block policies would: one of them
/// that is not the default was chosen for nothing.
void check_dispatch(config::Reader& reader, const Setup& setup) {
  if (!setup.replaced("kernel")) return;
  policy::each_level(
      [&](const policy::Level& level, const auto& choice) {
        if (!setup.replaced(level.name) || choice->name() == level.default_policy) return;
        reader.fail("policy.dispatch.name = \"" + std::string(setup.dispatch->name()) +
                    "\" decides what level " + std::string(level.name) + " would: policy." +
                    std::string(level.name) + ".name = \"" + std::string(choice->name()) +
                    "\" would have no effect; leave it at \"" + std::string(level.default_policy) +
                    "\" or choose dispatch=two_step");
      },
      setup);
}

/// Was the value given by an option or an experiment? What machine files say has a line.
bool overridden(const config::Tree& tree, std::string_view path) {
  const config::Node *name = tree.find("name"), *value = tree.find(path);
  return name != nullptr && value != nullptr && value->place.line == 0;
}

/// Classes that were part of others once, and cost the same where a file does not know them.
constexpr std::pair<trace::OpClass, trace::OpClass> kSplitClasses[] = {
    {trace::OpClass::Shuffle, trace::OpClass::Sfu},
    {trace::OpClass::Barrier, trace::OpClass::Control},
    {trace::OpClass::Converge, trace::OpClass::Control}};

void fill_split_classes(const config::Tree& tree, Setup& setup) {
  for (const auto& [part, whole] : kSplitClasses) {
    timing::OpCost& to = setup.machine.sm.cost[static_cast<std::size_t>(part)];
    const timing::OpCost& from = setup.machine.sm.cost[static_cast<std::size_t>(whole)];
    const std::string key =
        std::string("sm.cost.") + trace::kOpClassNames[static_cast<std::size_t>(part)];
    if (tree.find(key + ".unit") == nullptr) to.unit = from.unit;
    if (tree.find(key + ".latency") == nullptr) to.latency = from.latency;
    if (tree.find(key + ".interval") == nullptr) to.interval = from.interval;
    const auto has_lane = [&](trace::OpClass c) {
      return tree.find(std::string("energy.lane_pj.") +
                       trace::kOpClassNames[static_cast<std::size_t>(c)]) != nullptr;
    };
    if (has_lane(whole) && !has_lane(part))
      setup.energy.lane[static_cast<std::size_t>(part)] =
          setup.energy.lane[static_cast<std::size_t>(whole)];
  }
}

/// Settings of a machine's file that go when what they go with is set to something else.
void follow_overrides(const config::Tree& tree, Setup& setup) {
  timing::L1dSpec& l1d = setup.machine.sm.l1d;
  // Whoever gives the L1D a size means that it has this size.
  if (overridden(tree, "sm.l1d.size_kib") && !overridden(tree, "sm.l1d.unified_kib")) {
    l1d.unified_kib = 0;
    l1d.shared_kib_choices.clear();
  }
  if (overridden(tree, "isa.lowering") && !overridden(tree, "isa.order") &&
      setup.isa.lowering != lowering::Level::Machine)
    setup.isa.order = lowering::Order::AsWritten;
}

}  // namespace

Setup read_setup(const config::Tree& tree, const policy::Registries& policies) {
  Setup setup(policies);
  config::Reader reader(tree);
  setup.machine.visit(reader);
  reader.nested("device", setup.device, "what host code is told of the device");
  reader.nested("isa", setup.isa, "instructions that are executed");
  read_energy(reader, tree, setup.energy);
  reader.enter("policy", "");
  policy::each_level([&](const policy::Level& level, const auto& registry,
                         auto& choice) { read_policy(reader, level, registry, choice); },
                     policies, setup);
  reader.leave();
  reader.nested("run", setup.run, "");
  fill_split_classes(tree, setup);
  follow_overrides(tree, setup);
  if (!reader.failed()) check_rules(reader, setup);
  if (setup.machine.dram.model == timing::DramModel::Fixed && setup.dram->name() != "fcfs")
    reader.fail("dram.model = \"fixed\" serves in order: policy.dram.name must be \"fcfs\"");
  if (setup.run.cold_l2 && setup.coherence->name() != "gpu")
    reader.fail(
        "run.cold_l2 = true needs policy.coherence.name = \"gpu\": elsewhere the L2 knows "
        "what L1s own");
  if (setup.run.sampling_error != 0 && setup.run.live)
    reader.fail("run.sampling_error needs launches that have been executed: run.live = false");
  if (const auto order = setup.isa.order;
      order != lowering::Order::AsWritten && setup.isa.lowering != lowering::Level::Machine)
    reader.fail(fmt::format("isa.order = \"{}\" needs isa.lowering = \"machine\"",
                            lowering::kOrderNames[static_cast<std::size_t>(order)]));
  check_dispatch(reader, setup);
  reader.finish();
  setup.isa.compute_capability = setup.device.compute_capability;
  return setup;
}

}  // namespace raddle::sim
