// Numbers of a recording's JSON, which may come from anywhere: nlohmann's conversions cut what does
// not fit.
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/json.h"

namespace raddle::trace {

/// A value for an error's text.
inline std::string shown(const nlohmann::ordered_json& json) {
  return json.is_structured() ? json.type_name() : json_dump(json);
}

/// Throws InputError unless it is a whole number of [0, most].
template <std::unsigned_integral T>
T number(const nlohmann::ordered_json& json, T maximum = std::numeric_limits<T>::max()) {
  const bool whole =
      json.is_number_unsigned() || (json.is_number_integer() && json.get<std::int64_t>() >= 0);
  if (!whole || json.get<std::uint64_t>() > maximum)
    throw InputError(
        fmt::format("expected a whole number of 0 to {}, found {}", maximum, shown(json)));
  return json.get<T>();
}

/// Throws InputError unless it is a whole number of 64 bits, with a sign or without (an operand's
/// value: the bits are kept).
inline std::int64_t signed_number(const nlohmann::ordered_json& json) {
  if (!json.is_number_integer())
    throw InputError(fmt::format("expected a whole number, found {}", shown(json)));
  return json.get<std::int64_t>();
}

template <std::unsigned_integral T>
std::vector<T> numbers(const nlohmann::ordered_json& json) {
  if (!json.is_array())
    throw InputError(fmt::format("expected a list of numbers, found {}", json.type_name()));
  std::vector<T> out;
  out.reserve(json.size());
  for (const auto& one : json) out.push_back(number<T>(one));
  return out;
}

}  // namespace raddle::trace
