// Ways to run that one command compares: policies, and settings of which there are several values.
#pragma once
#include <string>
#include <vector>

#include "raddle/api/settings.h"
#include "raddle/api/work.h"
#include "raddle/sim/setup/apply_settings.h"

namespace raddle::api {

struct Variant {
  std::string label;
  std::string of_any_seed;            ///< label without the seed, which another input goes with
  std::vector<std::string> policies;  ///< for Tree::set_policy
  std::vector<std::string> settings;  ///< for Tree::set_option
  std::string origin;                 ///< where errors say that the settings stand
  /// For Tree::set_option; "" = that of all. Stands in `settings`, too.
  std::string seed = {};
  /// What is changed of the machine beside that of the variant before; "" = nothing. Then the label
  /// ends with it, and of_any_seed is the other's.
  std::string what_if = {};
  std::vector<sim::GivenSetting> changes = {};  ///< for sim::apply_settings, after `settings`
};

/// What is compared.
struct Comparison {
  std::string policies = {};             ///< "gto", "gto+block=chunk,lrr"; "" = the machine's
  std::vector<std::string> sweeps = {};  ///< "l2.size_kib=96,192"
  unsigned seeds = 0;                    ///< each with seeds 1 to that; 0 = with that of all
  /// Each is followed by itself with one part of the machine ideal (ideal.l1d, ...), and with all.
  bool bounds = false;
  /// "l2=x2,dram=ideal" (sim/setup/what_if.h): each is followed by itself with each of these.
  std::vector<std::string> what_if = {};
};

/// Every entry of its policies with every combination of the values of its sweeps, of those
/// entries of common.set that are lists, and of its seeds. A parameter of a policy
/// (policy.throttle.limit) is swept where the policy has it. Throws InputError.
std::vector<Variant> make_variants(const Settings& common, const Comparison& comparison,
                                   const policy::Registries& registries);

/// The machine of `common` as this variant has it.
config::Tree tree_of(const Settings& common, const Variant& variant,
                     const policy::Registries& registries);

/// By variant, how its machine comes by its instructions; those without a what_if have Same.
/// `machines`: one for each variant.
std::vector<report::Stream> streams_of(const Work& work, const std::vector<Variant>& variants,
                                       const std::vector<sim::Setup>& machines);

/// Are there several that differ in nothing but the seed?
bool several_seeds(const std::vector<Variant>& variants);

/// "l2.size_kib=96,192": has it several values?
bool is_list(const std::string& setting);

}  // namespace raddle::api
