// Policies with parameters, for tests: choose(all.warp, "two_level", {{"group_size", "2"}}).
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "raddle/policy/all.h"

#include "support/no_fields.h"

namespace raddle::test {

/// Names and values, as text, of parameters; what is not named keeps its default.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Sets numbers, flags, texts and choices by name.
class Setter final : public NoFields {
 public:
  explicit Setter(Settings settings) : settings_(std::move(settings)) {}
  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t>, std::string_view,
             std::string_view) override {
    if (const std::string* text = find(name)) value = static_cast<std::uint32_t>(std::stoul(*text));
  }
  void field(std::string_view name, double& value, Range<double>, std::string_view,
             std::string_view) override {
    if (const std::string* text = find(name)) value = std::stod(*text);
  }
  void field(std::string_view name, bool& value, std::string_view) override {
    if (const std::string* text = find(name)) value = *text == "true";
  }
  void field(std::string_view name, std::string& value, std::string_view) override {
    if (const std::string* text = find(name)) value = *text;
  }
  std::size_t found() const { return found_; }

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view) override {
    if (const std::string* text = find(name))
      for (std::uint32_t i = 0; i < names.size(); ++i)
        if (names[i] == *text) position = i;
  }

 private:
  const std::string* find(std::string_view name) {
    for (const auto& [key, text] : settings_)
      if (key == name) {
        ++found_;
        return &text;
      }
    return nullptr;
  }
  Settings settings_;
  std::size_t found_ = 0;
};

/// Throws std::invalid_argument on a setting that the policy does not have.
template <class Interface>
std::unique_ptr<policy::Choice<Interface>> choose(const policy::Registry<Interface>& registry,
                                                  std::string_view name, const Settings& settings) {
  auto choice = registry.choose(name);
  Setter setter(settings);
  choice->visit(setter);
  if (setter.found() != settings.size()) throw std::invalid_argument("unknown setting");
  return choice;
}

}  // namespace raddle::test
