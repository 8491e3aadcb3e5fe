// Reading documents that may lack what one looks for.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>

namespace raddle::report {

/// null where `of` is no object or has no such member.
inline const nlohmann::ordered_json& member(const nlohmann::ordered_json& of,
                                            std::string_view key) {
  static const nlohmann::ordered_json kNull;
  if (!of.is_object()) return kNull;
  const auto at = of.find(key);
  return at == of.end() ? kNull : *at;
}

}  // namespace raddle::report
