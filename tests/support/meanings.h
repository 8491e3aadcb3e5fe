// Whether each field of a policy in a result comes with its meaning.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace raddle::test {

using Json = nlohmann::ordered_json;

/// Paths of the numbers and choices in `fields`: "phases.00_warm_up.blocks".
inline std::vector<std::string> paths_of(const Json& fields, const std::string& prefix = "") {
  std::vector<std::string> out;
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_object()) out.push_back(prefix + name);
    else
      for (std::string& path : paths_of(value, prefix + name + ".")) out.push_back(std::move(path));
  }
  return out;
}

inline void expect_each_explained(const Json& fields, const Json& meaning) {
  for (const std::string& path : paths_of(fields)) {
    const std::string name = path.substr(path.rfind('.') + 1);
    const auto at = meaning.contains(path) ? meaning.find(path) : meaning.find(name);
    ASSERT_NE(at, meaning.end()) << path;
    EXPECT_FALSE((*at)["doc"].get<std::string>().empty()) << path;
  }
}

}  // namespace raddle::test
