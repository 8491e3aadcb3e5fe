// The fixed words of PTX: type names and special registers.
#pragma once
#include <optional>
#include <string_view>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// The type called `word` (without its dot), Type::None when it is no type.
Type type_named(std::string_view word);

/// The integer type of twice as many bits (mul.wide), Type::None where the ISA has none.
Type wide_of(Type type);

/// The special register called `name` ("%tid.x"), nothing when there is none that Raddle models.
/// %envreg<n> is not among them: it carries a number.
std::optional<Special> special_named(std::string_view name);

/// PTX has a special register of this name, but Raddle does not model it (%pm0, %tid without a
/// component).
bool is_unsupported_special(std::string_view name);

}  // namespace raddle::ptx
