// What would be if a part of the machine were another: short names of parts, and the settings that
// they are. `compare --what-if`, `raddle list what-if` and `analyze bounds` go by one table.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/sim/setup/apply_settings.h"

namespace raddle::sim {

struct MachinePart {
  std::string_view name;  ///< "l2"
  std::string_view path;  ///< "l2.size_kib"
  /// A setting that a factor multiplies where the machine has it, alone or along; "" = none.
  std::string_view along;
  /// "ideal.l2", for NAME=ideal; "" = there is none.
  std::string_view ideal;
  std::string_view doc;
};
/// In the order of the way of a request.
std::span<const MachinePart> machine_parts();
/// Null where no part is called so.
const MachinePart* find_part(std::string_view name);

/// "l2=x2", or several at once: "l2=x2+mshr=x2".
struct WhatIf {
  std::string text;
  std::vector<GivenSetting> changes;  ///< path: a part's name or a setting; value: may be "ideal"
};
/// Of lists with commas. Throws InputError on what is no NAME=VALUE, is there twice, has no ideal,
/// or is a setting of a policy or of the run and none of a machine.
std::vector<WhatIf> read_what_ifs(const std::vector<std::string>& lists);

/// What it sets on the machine `tree`, for apply_settings(). Throws InputError where neither a part
/// nor a setting is called so.
std::vector<GivenSetting> settings_of(const WhatIf& what_if, const config::Tree& tree);

}  // namespace raddle::sim
