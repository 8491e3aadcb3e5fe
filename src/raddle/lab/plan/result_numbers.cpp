#include "raddle/lab/plan/result_numbers.h"

namespace raddle::lab {

namespace {

void flatten(const Json& value, const std::string& path, std::map<std::string, double>& out) {
  if (value.is_number()) out[path] = value.get<double>();
  else if (value.is_boolean()) out[path] = value.get<bool>() ? 1 : 0;
  else if (value.is_object())
    for (const auto& [key, member] : value.items())
      flatten(member, path.empty() ? key : path + "." + key, out);
  // Tenants count from 1, as their workloads do (member1); other lists are not looked into.
  else if (value.is_array() && path == "tenants")
    for (std::size_t t = 0; t < value.size(); ++t)
      flatten(value[t], path + "." + std::to_string(t + 1), out);
}

}  // namespace

std::map<std::string, double> numbers_of(const Json& result) {
  std::map<std::string, double> out;
  flatten(result, "", out);
  return out;
}

}  // namespace raddle::lab
