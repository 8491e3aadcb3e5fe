// Lists the fields of visited structs for people: path, type, default, bounds, unit, meaning. Feeds
// the documentation and `raddle list ... --json`.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"

namespace raddle::config {

struct FieldDescription {
  std::string path;                ///< "sm.l1d.size_kib"
  std::string_view type;           ///< "whole number", "number", "true or false", "text", "choice"
  nlohmann::ordered_json initial;  ///< the value before anything is read
  nlohmann::ordered_json low, high;  ///< inclusive; null where there is no bound
  std::string unit, doc;
  std::vector<std::string> choices;
};

class Describer final : public FieldVisitor {
 public:
  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
             std::string_view unit, std::string_view doc) override;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
             std::string_view unit, std::string_view doc) override;
  void field(std::string_view name, double& value, Range<double> range, std::string_view unit,
             std::string_view doc) override;
  void field(std::string_view name, bool& value, std::string_view doc) override;
  void field(std::string_view name, std::string& value, std::string_view doc) override;
  void enter(std::string_view name, std::string_view doc) override;
  void leave() override;

  const std::vector<FieldDescription>& fields() const { return fields_; }
  /// One object per field: path, type, default, low, high, unit, doc, choices (what does not apply
  /// is left out).
  nlohmann::ordered_json json() const;

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view doc) override;

 private:
  FieldDescription& add(std::string_view name, std::string_view type, std::string_view unit,
                        std::string_view doc);
  template <class T>
  void number(std::string_view name, std::string_view type, T value, Range<T> range,
              std::string_view unit, std::string_view doc);
  std::vector<FieldDescription> fields_;
  std::vector<std::string> tables_;
};

}  // namespace raddle::config
