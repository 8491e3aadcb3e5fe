#include "raddle/sim/result/check_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::sim {

namespace {
std::string_view name_of(exec::Check check) {
  return exec::kCheckNames[static_cast<std::size_t>(check)];
}
}  // namespace

CheckReport::CheckReport(const exec::AccessChecks& checks)
    : asked(checks.options()),
      findings(checks.findings()),
      more(checks.more()),
      left_out(checks.left_out()) {}

std::string CheckReport::failure() const {
  if (findings.empty()) return "";
  const auto count = [&](exec::Check check) {
    return std::ranges::count(findings, check, &exec::Finding::check);
  };
  const auto races = count(exec::Check::Races), loads = count(exec::Check::Uninitialised);
  return fmt::format("--check found{}{}{} (places in kernels{})",
                     races != 0 ? fmt::format(" {} race{}", races, races == 1 ? "" : "s") : "",
                     races != 0 && loads != 0 ? " and" : "",
                     loads != 0 ? fmt::format(" {} load{} of what nobody has written", loads,
                                              loads == 1 ? "" : "s")
                                : "",
                     more != 0 ? fmt::format(", and {} more", more) : "");
}

std::string CheckReport::text() const {
  std::string out;
  for (const exec::Finding& f : findings)
    out += fmt::format("  {}: kernel {}: {} ({} time{})\n", name_of(f.check), f.kernel, f.text,
                       f.times, f.times == 1 ? "" : "s");
  if (more != 0) out += fmt::format("  {} more places\n", more);
  if (findings.empty()) out += "  checks: nothing found\n";
  for (const auto& [kernel, why] : left_out)
    out += fmt::format("  checks: shared memory of kernel {} was not looked at: {}\n", kernel, why);
  return out;
}

nlohmann::ordered_json CheckReport::json() const {
  using Json = nlohmann::ordered_json;
  Json out = {{"asked", Json::array()}, {"findings", Json::array()}, {"more", more}};
  if (asked.races) out["asked"].push_back(name_of(exec::Check::Races));
  if (asked.uninitialised) out["asked"].push_back(name_of(exec::Check::Uninitialised));
  for (const exec::Finding& f : findings)
    out["findings"].push_back(
        {{"check", name_of(f.check)}, {"kernel", f.kernel}, {"times", f.times}, {"text", f.text}});
  out["shared_memory_left_out"] = left_out;
  return out;
}

std::optional<exec::AccessChecks> checks_of(const exec::CheckOptions& asked) {
  if (!asked.any()) return std::nullopt;
  return exec::AccessChecks(asked);
}

std::string found_before_a_fault(const std::optional<exec::AccessChecks>& checks) {
  if (!checks) return "";
  const CheckReport report(*checks);
  return report.findings.empty() ? "" : "\nfound before that:\n" + report.text();
}

}  // namespace raddle::sim
