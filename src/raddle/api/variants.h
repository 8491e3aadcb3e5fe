// Ways to run that one command compares: policies, and settings of which there are several values.
#pragma once
#include <string>
#include <vector>

#include "raddle/api/settings.h"

namespace raddle::api {

struct Variant {
  std::string label;
  std::string of_any_seed;            ///< label without the seed, which another input goes with
  std::vector<std::string> policies;  ///< for Tree::set_policy
  std::vector<std::string> settings;  ///< for Tree::set_option
  std::string origin;                 ///< where errors say that the settings stand
  /// For Tree::set_option; "" = that of all. Stands in `settings`, too.
  std::string seed = {};
};

/// Every entry of `policies` ("" = the machine's) with every combination of the values of
/// `sweeps` and of those entries of common.set that are lists. A parameter of a policy
/// (policy.throttle.limit) is swept where the policy has it. Throws InputError.
/// `bounds`: each of them is followed by itself with one part of the machine ideal (ideal.l1d,
/// ...), and with all.
std::vector<Variant> make_variants(const Settings& common, const std::string& policies,
                                   const std::vector<std::string>& sweeps,
                                   const policy::Registries& registries, bool bounds = false);

/// The machine of `common` as this variant has it.
config::Tree tree_of(const Settings& common, const Variant& variant,
                     const policy::Registries& registries);

/// Are there several that differ in nothing but the seed?
bool several_seeds(const std::vector<Variant>& variants);

/// "l2.size_kib=96,192": has it several values?
bool is_list(const std::string& setting);

}  // namespace raddle::api
