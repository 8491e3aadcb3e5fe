#include "raddle/exec/run/access_checks.h"

#include <fmt/format.h>

#include "raddle/base/error.h"

namespace raddle::exec {

CheckOptions check_options(const std::vector<std::string>& names) {
  CheckOptions out;
  for (const std::string& name : names)
    if (name == kCheckNames[0]) out.races = true;
    else if (name == kCheckNames[1]) out.uninitialised = true;
    else
      throw InputError(fmt::format("--check: expected {} or {}, found \"{}\"", kCheckNames[0],
                                   kCheckNames[1], name));
  return out;
}

void AccessChecks::found(Check check, std::string_view kernel, unsigned kind, std::uint32_t first,
                         std::uint32_t second, const std::function<std::string()>& text) {
  const auto [at, fresh] =
      known_.try_emplace({check, std::string(kernel), kind, first, second}, findings_.size());
  if (fresh) {
    if (findings_.size() == kMaxFindings) {
      at->second = kMaxFindings;
      ++more_;
      return;
    }
    findings_.push_back({check, std::string(kernel), text()});
  }
  if (at->second < findings_.size()) ++findings_[at->second].times;
}

}  // namespace raddle::exec
