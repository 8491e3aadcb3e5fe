// Statistics of policies, level by level. Whoever owns instances of policies offers them:
//     template <class Visit> void each_policy(Visit&& visit) { visit(*my_policy_); ... }
// in the type of their level's interface, which says the level (kLevel). Nobody lists the levels.
#pragma once
#include <string>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/sum_fields.h"

namespace raddle::timing {

/// Shows v the sums over the level's instances among the owner's policies. Throws InputError when
/// the table of levels does not have it.
template <class Owner>
void visit_statistics_of(std::string_view level, Owner& owner, FieldVisitor& v) {
  if (policy::find_level(level) == nullptr)
    throw InputError("no policy level is called '" + std::string(level) +
                     "'; known: " + policy::level_names());
  SumFields sum;
  owner.each_policy([&](auto& policy) {
    if (policy.kLevel == level) sum.add(policy);
  });
  sum.notify(v);
}

}  // namespace raddle::timing
