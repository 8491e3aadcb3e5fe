#include "raddle/config/describer.h"

#include "raddle/base/error.h"

namespace raddle::config {

FieldDescription& Describer::add(std::string_view name, std::string_view type,
                                 std::string_view unit, std::string_view doc) {
  FieldDescription& field = fields_.emplace_back();
  for (const std::string& table : tables_) field.path += table + ".";
  field.path += name;
  field.type = type;
  field.unit = unit;
  field.doc = doc;
  return field;
}

template <class T>
void Describer::number(std::string_view name, std::string_view type, T value, Range<T> range,
                       std::string_view unit, std::string_view doc) {
  FieldDescription& field = add(name, type, unit, doc);
  field.initial = value;
  if (range.low != Range<T>{}.low) field.low = range.low;
  if (range.high != Range<T>{}.high) field.high = range.high;
}

void Describer::field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
                      std::string_view unit, std::string_view doc) {
  number(name, "whole number", value, range, unit, doc);
}
void Describer::field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
                      std::string_view unit, std::string_view doc) {
  number(name, "whole number", value, range, unit, doc);
}
void Describer::field(std::string_view name, double& value, Range<double> range,
                      std::string_view unit, std::string_view doc) {
  number(name, "number", value, range, unit, doc);
}
void Describer::field(std::string_view name, bool& value, std::string_view doc) {
  add(name, "true or false", "", doc).initial = value;
}
void Describer::field(std::string_view name, std::string& value, std::string_view doc) {
  add(name, "text", "", doc).initial = value;
}
void Describer::choice_index(std::string_view name, std::uint32_t& position,
                             std::span<const std::string_view> names, std::string_view doc) {
  RADDLE_ASSERT(position < names.size());
  FieldDescription& field = add(name, "choice", "", doc);
  field.initial = std::string(names[position]);
  field.choices.assign(names.begin(), names.end());
}

void Describer::enter(std::string_view name, std::string_view) { tables_.emplace_back(name); }

void Describer::leave() {
  RADDLE_ASSERT(!tables_.empty());
  tables_.pop_back();
}

nlohmann::ordered_json Describer::json() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const FieldDescription& field : fields_) {
    nlohmann::ordered_json one = {
        {"path", field.path}, {"type", std::string(field.type)}, {"default", field.initial}};
    if (!field.low.is_null()) one["low"] = field.low;
    if (!field.high.is_null()) one["high"] = field.high;
    if (!field.unit.empty()) one["unit"] = field.unit;
    if (!field.doc.empty()) one["doc"] = field.doc;
    if (!field.choices.empty()) one["choices"] = field.choices;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace raddle::config
