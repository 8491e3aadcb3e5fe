// The verification page, docs/verification.md: tests of this folder put what they expect and what
// they measured into its tables, and assert the same numbers, so the page cannot say more than the
// tests do. `./x verify` runs all of them with RADDLE_VERIFICATION=FILE and so writes the page.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace raddle::verification {

/// Adds a row to a table (page.cpp lists them); rows stand in the order in which tests run.
void row(std::string_view table, std::vector<std::string> cells);

/// Two decimals, none where the number is whole.
inline std::string number(double x) {
  return x == static_cast<double>(static_cast<long long>(x))
             ? fmt::format("{}", static_cast<long long>(x))
             : fmt::format("{:.2f}", x);
}
inline std::string percent(double part, double whole) {
  return fmt::format("{:.1f} %", 100 * part / whole);
}

}  // namespace raddle::verification
