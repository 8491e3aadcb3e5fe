// "gto:x=1" is enough where only one level has a policy of that name.
#pragma once
#include <span>
#include <string>

#include "raddle/policy/all.h"

namespace raddle::sim {

/// "gto:x=1" becomes "warp=gto:x=1"; what names its level stays. Throws InputError when no policy,
/// or one of several levels, is called so.
std::string with_level(const std::string& item, const policy::Registries& policies);

/// Throws InputError when two of `items` (as with_level() gives them), which are to hold together,
/// are of one level.
void one_of_each_level(std::span<const std::string> items);

}  // namespace raddle::sim
