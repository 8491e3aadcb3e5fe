// Every level of policy and every policy of the source tree. Levels are the lines of levels.def,
// policies the files in their folders (CMake lists both).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/policy/level_headers.h"  // generated: the policy.h of each level
#include "raddle/policy/registry.h"

namespace raddle::policy {

enum class Shown : std::uint8_t { Always, Optional };
enum class BareName : std::uint8_t { First, Last, Never };

/// A line of levels.def, where the columns are explained.
struct Level {
  std::string_view name, default_policy;
  Shown shown = Shown::Always;
  BareName bare_name = BareName::First;
  std::string_view doc;

  /// Does it stand in configuration and result when this policy is chosen?
  constexpr bool shows(std::string_view policy) const {
    return shown == Shown::Always || policy != default_policy;
  }
};

inline constexpr auto kLevels = std::to_array<Level>({
#define RADDLE_LEVEL(name, Interface, preset, shown, bare_name, doc) \
  {#name, preset, Shown::shown, BareName::bare_name, doc},
#include "raddle/policy/levels.def"
#undef RADDLE_LEVEL
});

/// Names of all levels, for messages: "kernel warp ...".
std::string level_names();
/// Null when there is none of that name.
const Level* find_level(std::string_view name);

/// One member for each level, with its name: Of<Interface>.
template <template <class> class Of>
struct ByLevel {
#define RADDLE_LEVEL(name, Interface, ...)   \
  static_assert(Interface::kLevel == #name); \
  Of<Interface> name{};
#include "raddle/policy/levels.def"
#undef RADDLE_LEVEL
};

/// Calls f(level, member, ...) for each level in the order of the table, with the level's member of
/// each argument; arguments derive from ByLevel.
template <class F, class... Structs>
void each_level(F f, Structs&... structs) {
  std::size_t row = 0;
#define RADDLE_LEVEL(name, ...) f(kLevels[row++], structs.name...);
#include "raddle/policy/levels.def"
#undef RADDLE_LEVEL
}

using Registries = ByLevel<Registry>;

/// A fresh set of registries with everything in it, plug-ins' policies too (plugins.h). Throws
/// InputError when a plug-in cannot be had.
Registries all_policies();

}  // namespace raddle::policy
