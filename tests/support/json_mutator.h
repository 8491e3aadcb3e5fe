// Small changes to a JSON document, as one who wants to break its reader would make them.
#pragma once
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::test {

using MutableJson = nlohmann::ordered_json;

/// Every value of the document, the document itself first.
inline void collect(MutableJson& json, std::vector<MutableJson*>& out) {
  out.push_back(&json);
  if (json.is_structured())
    for (auto& inner : json) collect(inner, out);
}

/// A value that is seldom expected.
inline MutableJson odd_value(Rng& rng) {
  switch (rng.below(14)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return -1;
    case 3:
      return 0;
    case 4:
      return 1;
    case 5:
      return 255;
    case 6:
      return std::uint64_t{1} << 31;
    case 7:
      return std::uint64_t{1} << 32;
    case 8:
      return ~std::uint64_t{0};
    case 9:
      return 1e300;
    case 10:
      return "";
    case 11:
      return "\xc3\xa9<script>\n";
    case 12:
      return MutableJson::array();
    default:
      return MutableJson::object();
  }
}

/// Lists within lists.
inline MutableJson deep_value(unsigned depth) {
  MutableJson out = MutableJson::array();
  while (depth-- > 0) out = MutableJson::array({std::move(out)});
  return out;
}

inline void change_structure(MutableJson& json, Rng& rng) {
  if (json.empty()) return;
  const auto i = rng.below(static_cast<std::uint32_t>(json.size()));
  auto at = json.begin();
  std::advance(at, i);
  if (json.is_object()) {
    json.erase(at.key());
    return;
  }
  switch (rng.below(3)) {
    case 0:
      json.erase(at);
      break;
    case 1:
      json.push_back(MutableJson(*at));
      break;
    default:
      std::swap(*at, json[rng.below(static_cast<std::uint32_t>(json.size()))]);
      break;
  }
}

/// One change somewhere.
inline void mutate(MutableJson& json, Rng& rng) {
  std::vector<MutableJson*> all;
  collect(json, all);
  MutableJson& one = *all[rng.below(static_cast<std::uint32_t>(all.size()))];
  const auto kind = rng.below(8);
  if (kind == 0 && one.is_number_integer())
    one = one.get<std::int64_t>() + static_cast<std::int64_t>(rng.below(5)) - 2;
  else if (kind == 1) one = deep_value(30 + rng.below(60));
  else if (kind < 5 && one.is_structured()) change_structure(one, rng);
  else one = odd_value(rng);
}

}  // namespace raddle::test
