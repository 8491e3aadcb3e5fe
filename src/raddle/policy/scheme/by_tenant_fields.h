// Parameters that each tenant has one of: name_0 .. name_7.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"

namespace raddle::policy {

using ByTenant = std::array<std::uint32_t, kMaxTenants>;

inline void visit_by_tenant(FieldVisitor& v, std::string_view name, ByTenant& values,
                            Range<std::uint32_t> range, std::string_view unit,
                            std::string_view doc) {
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    const std::string field = std::string(name) + "_" + std::to_string(t);
    const std::string text = "tenant " + std::to_string(t) + ": " + std::string(doc);
    v.field(field, values[t], range, unit, text);
  }
}

/// Whose parameter that is, by its name; nullopt: no tenant's.
inline std::optional<unsigned> tenant_of_field(std::string_view name) {
  static_assert(kMaxTenants <= 10);
  if (name.size() < 3 || name[name.size() - 2] != '_') return std::nullopt;
  const unsigned tenant = static_cast<unsigned char>(name.back()) - unsigned{'0'};
  return tenant < kMaxTenants ? std::optional(tenant) : std::nullopt;
}

}  // namespace raddle::policy
