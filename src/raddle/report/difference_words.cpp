#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "raddle/base/json.h"
#include "raddle/base/stable_sort.h"
#include "raddle/report/difference.h"
#include "raddle/report/json_member.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// Every leaf: "sm.l1d.ways" and its value.
void flatten(const Json& value, const std::string& path, std::map<std::string, std::string>& out) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, inner] : value.items())
      flatten(inner, path.empty() ? key : path + "." + key, out);
    return;
  }
  out[path] = value.is_string() ? value.get<std::string>() : json_dump(value);
}

}  // namespace

std::vector<std::string> settings_that_differ(const Json& a, const Json& b) {
  std::map<std::string, std::string> of_a, of_b;
  flatten(a, "", of_a);
  flatten(b, "", of_b);
  std::vector<std::string> policies, others;
  // Another policy has other parameters.
  const auto of_another = [&](const std::string& path) {
    const std::string name = path.substr(0, path.rfind('.')) + ".name";
    return path.starts_with("policy.") && path != name &&
           (!of_a.contains(name) || !of_b.contains(name) || of_a.at(name) != of_b.at(name));
  };
  const auto add = [&](const std::string& path) {
    if (of_another(path)) return;
    const auto at_a = of_a.find(path), at_b = of_b.find(path);
    const std::string one = at_a == of_a.end() ? "-" : at_a->second,
                      other = at_b == of_b.end() ? "-" : at_b->second;
    if (one != other)
      (path.starts_with("policy.") ? policies : others)
          .push_back(fmt::format("{} {} -> {}", path, one, other));
  };
  for (const auto& [path, value] : of_a) add(path);
  for (const auto& [path, value] : of_b)
    if (!of_a.contains(path)) add(path);
  // Which policy it is comes before its parameters.
  sort_stably(policies,
              [](const std::string& text) { return text.find(".name ") == std::string::npos; });
  std::ranges::move(others, std::back_inserter(policies));
  return policies;
}

std::string work_title(const Json& result) {
  constexpr std::size_t kMaxParameters = 40;
  std::string parameters;
  for (const auto& [key, value] : member(member(result, "workload"), "parameters").items()) {
    if (parameters.size() > kMaxParameters) {
      parameters += " ...";
      break;
    }
    parameters +=
        " " + key + "=" + (value.is_string() ? value.get<std::string>() : json_dump(value));
  }
  return member(member(result, "workload"), "name").get<std::string>() + parameters;
}

std::string work_that_differs(const Json& a, const Json& b) {
  const Json &work_a = member(a, "workload"), &work_b = member(b, "workload");
  std::vector<std::string> out;
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_dump(value);
  };
  if (member(work_a, "name") != member(work_b, "name"))
    out.push_back(text(member(work_a, "name")) + " and " + text(member(work_b, "name")));
  std::map<std::string, std::string> of_a, of_b;
  flatten(member(work_a, "parameters"), "", of_a);
  flatten(member(work_b, "parameters"), "", of_b);
  for (const auto& [key, value] : of_a)
    if (!key.empty() && (!of_b.contains(key) || of_b.at(key) != value))
      out.push_back(key + " " + value + " and " + (of_b.contains(key) ? of_b.at(key) : "none"));
  for (const auto& [key, value] : of_b)
    if (!key.empty() && !of_a.contains(key)) out.push_back(key + " none and " + value);
  const Json &seed_a = member(member(member(a, "config"), "run"), "seed"),
             &seed_b = member(member(member(b, "config"), "run"), "seed");
  if (seed_a != seed_b) out.push_back("seed " + text(seed_a) + " and " + text(seed_b));
  if (out.empty() && member(work_a, "input_hash") != member(work_b, "input_hash"))
    out.emplace_back("another program or another input (input_hash)");
  std::string joined;
  for (const std::string& one : out) joined += (joined.empty() ? "" : ", ") + one;
  return joined;
}

}  // namespace raddle::report
