#include "raddle/sim/setup/apply_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

namespace {

constexpr std::string_view kL1dSize = "sm.l1d.size_kib", kUnified = "sm.l1d.unified_kib";
/// Where 0 stands for what another setting says.
constexpr std::pair<std::string_view, std::string_view> kZeroIs[] = {
    {"noc.clock_mhz", "core_clock_mhz"}};

struct Number {
  double value = 0;
  bool whole = false;
};

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// None of a node that is none, or no number.
std::optional<Number> number_in(const config::Node* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::uint64_t>(&node->value))
    return Number{static_cast<double>(*whole), true};
  if (const auto* real = std::get_if<double>(&node->value)) return Number{*real, false};
  return std::nullopt;
}

/// What is simulated where the document says nothing.
std::optional<Number> number_of_default(const config::Tree& tree, std::string_view path,
                                        const policy::Registries& policies) {
  const nlohmann::ordered_json config = read_setup(tree, policies).config();
  const nlohmann::ordered_json* at = &config;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const auto found = at->is_object() ? at->find(std::string(rest.substr(0, dot))) : at->end();
    if (found == at->end()) return std::nullopt;
    at = &*found;
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (!at->is_number()) return std::nullopt;
  return Number{at->get<double>(), !at->is_number_float()};
}

std::optional<Number> number_at(const config::Tree& tree, std::string_view path,
                                const policy::Registries& policies) {
  const config::Node* node = tree.find(path);
  auto out = node != nullptr ? number_in(node) : number_of_default(tree, path, policies);
  for (const auto& [zero, other] : kZeroIs)
    if (out && out->value == 0 && path == zero) return number_at(tree, other, policies);
  return out;
}

}  // namespace

double factor_of(const GivenSetting& setting) {
  const std::string_view text = without_quotes(setting.value).substr(1);
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(factor) ||
      factor <= 0)
    throw InputError({setting.origin},
                     fmt::format("{}: expected a value, or a factor above 0 such as x2 or x0.5, "
                                 "found '{}'",
                                 setting.path, without_quotes(setting.value)));
  return factor;
}

namespace {

std::string shortest(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// The product as it would be written; whole where it is but for rounding.
std::string product(const Number& number, double factor) {
  const double value = number.value * factor, near = std::round(value);
  constexpr double kExact = 9007199254740992;  // 2^53, up to which all whole numbers are doubles
  if (number.whole && near < kExact && std::abs(value - near) <= 1e-9 * std::max(1.0, near))
    return std::to_string(static_cast<std::uint64_t>(near));
  return shortest(value);
}

void multiply(config::Tree& tree, const GivenSetting& setting, const policy::Registries& policies) {
  const auto number = number_at(tree, setting.path, policies);
  // A text may begin with x, and whoever reads the document knows what is expected.
  if (!number) return tree.set(setting.path, setting.value, setting.origin);
  const double factor = factor_of(setting);
  if (setting.path == "run.seed")
    throw InputError({setting.origin}, fmt::format("run.seed: expected a seed, found the factor {}",
                                                   without_quotes(setting.value)));
  if (number->value == 0)
    throw InputError({setting.origin}, fmt::format("{}: {} of 0 is 0 again; give a value",
                                                   setting.path, without_quotes(setting.value)));
  tree.set(setting.path, product(*number, factor), setting.origin);
}

/// Of a memory for L1D and shared memory together the size is that of the sets, and whoever sets it
/// gives that memory up (setup.cpp): twice as much would be less.
void check_l1d(const config::Tree& tree, const GivenSetting& setting) {
  const config::Node* unified = tree.find(kUnified);
  const auto kib = number_in(unified);
  if (setting.path != kL1dSize || !kib || kib->value == 0 || unified->place.line == 0) return;
  throw InputError(
      {setting.origin},
      fmt::format("{}: a factor of it is none of the L1D, which has what shared memory leaves of "
                  "{} KiB ({}); give a size in KiB, or the same factor to both",
                  kL1dSize, shortest(kib->value), kUnified));
}

}  // namespace

GivenSetting given_setting(std::string_view text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw InputError({origin}, "expected path=value, found '" + std::string(text) + "'");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)), origin};
}

bool is_factor(std::string_view value) {
  const std::string_view text = without_quotes(value);
  return text.size() > 1 && text[0] == 'x' &&
         std::string_view("0123456789.+-").find(text[1]) != std::string_view::npos;
}

void apply_settings(config::Tree& tree, std::span<const GivenSetting> settings,
                    const policy::Registries& policies) {
  for (const GivenSetting& one : settings)
    if (!is_factor(one.value)) tree.set(one.path, one.value, one.origin);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const bool replaced = std::ranges::any_of(settings.subspan(i), [&](const GivenSetting& later) {
      return later.path == settings[i].path && !is_factor(later.value);
    });
    if (is_factor(settings[i].value) && !replaced) multiply(tree, settings[i], policies);
  }
  for (const GivenSetting& one : settings)
    if (is_factor(one.value)) check_l1d(tree, one);
}

std::string number_text(const config::Tree& tree, std::string_view path) {
  const config::Node* node = tree.find(path);
  const auto number = number_in(node);
  if (!number) return "";
  return number->whole ? node->shown() : shortest(number->value);
}

}  // namespace raddle::sim
