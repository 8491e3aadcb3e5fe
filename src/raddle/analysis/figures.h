// How analyses write their figures.
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"

namespace raddle::analysis {

inline void figure(FieldVisitor& v, std::string_view name, std::uint64_t value,
                   std::string_view doc) {
  v.field(name, value, {}, "", doc);
}

inline void ratio(FieldVisitor& v, std::string_view name, std::uint64_t part, std::uint64_t whole,
                  std::string_view doc) {
  double value = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  v.field(name, value, {}, "", doc);
}

/// Events per thousand instructions.
inline void rate(FieldVisitor& v, std::string_view name, std::uint64_t events,
                 std::uint64_t instructions, std::string_view doc) {
  double value = instructions == 0
                     ? 0
                     : 1000.0 * static_cast<double>(events) / static_cast<double>(instructions);
  v.field(name, value, {}, "per 1000 instructions", doc);
}

}  // namespace raddle::analysis
