#include "raddle/report/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace raddle::report {
namespace {

/// 1234567 -> "1,234,567".
std::string grouped(double value) {
  const std::string text = fmt::format("{:.0f}", std::abs(value));
  std::string out(value < 0 ? "-" : "");
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && (text.size() - i) % 3 == 0) out += ',';
    out += text[i];
  }
  return out;
}

}  // namespace

std::vector<double> Ticks::values() const {
  std::vector<double> out;
  const auto steps = static_cast<int>(std::lround((high - low) / step));
  for (int i = 0; i <= steps; ++i) out.push_back(low + i * step);
  return out;
}

std::string Ticks::label(double value) const {
  for (const auto& [unit, name] :
       {std::pair(1e9, " G"), std::pair(1e6, " M"), std::pair(1e3, " k")})
    if (std::max(std::abs(low), std::abs(high)) >= 10 * unit)
      return value == 0 ? "0" : fmt::format("{:g}{}", value / unit, name);
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? "0" : text;
}

Ticks ticks_from_zero(double minimum, double maximum, int count) {
  minimum = std::min(minimum, 0.0);
  maximum = std::max(maximum, 0.0);
  return ticks(minimum, minimum == maximum ? 1 : maximum, count);
}

Ticks ticks(double minimum, double maximum, int count) {
  const double wanted = (maximum - minimum) / count;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  Ticks out;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    out.step = factor * power;
    if (out.step >= wanted * 0.999) break;
  }
  out.low = std::floor(minimum / out.step + 1e-9) * out.step;
  out.high = std::ceil(maximum / out.step - 1e-9) * out.step;
  return out;
}

std::string axis_title(const std::string& label, const std::string& unit) {
  if (unit.empty()) return label;
  return label.empty() ? unit : label + " (" + unit + ")";
}

std::string digits(double value) {
  const double size = std::abs(value);
  if (value == std::round(value) && size < 1e15) return grouped(value);
  if (size >= 1e9 || size < 1e-4) return fmt::format("{:.2e}", value);
  if (size >= 100) return grouped(std::round(value));
  return fmt::format("{:.{}f}", value, size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

std::string short_number(double value) {
  for (const auto& [unit, name] :
       {std::pair(1e9, " G"), std::pair(1e6, " M"), std::pair(1e3, " k")})
    if (std::abs(value) >= unit && std::abs(value) >= 1e4 && std::fmod(value, unit / 100) == 0)
      return fmt::format("{:g}{}", value / unit, name);
  return fmt::format("{}", value);
}

}  // namespace raddle::report
