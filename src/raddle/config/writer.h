// Turns visited structs into nested JSON objects: the resolved configuration of a result, and
// statistics. Reading the object back (Tree::from_json, Reader) gives the same struct, doubles
// included.
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"

namespace raddle::config {

class JsonWriter final : public FieldVisitor {
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

  /// What was written, fields in the order visited. Precondition: every enter() has its leave().
  nlohmann::ordered_json take();

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view doc) override;

 private:
  struct Level {
    std::string name;
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
  };
  void put(std::string_view name, nlohmann::ordered_json value);
  std::vector<Level> levels_ = std::vector<Level>(1);
};

/// The fields of one struct (anything with visit(FieldVisitor&)).
template <class Struct>
nlohmann::ordered_json to_json(Struct& value) {
  JsonWriter writer;
  value.visit(writer);
  return writer.take();
}

}  // namespace raddle::config
