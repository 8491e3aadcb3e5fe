#include "raddle/config/writer.h"

#include "raddle/base/error.h"

namespace raddle::config {

void JsonWriter::put(std::string_view name, nlohmann::ordered_json value) {
  nlohmann::ordered_json& object = levels_.back().object;
  if (object.contains(name))  // a plug-in's
    throw InputError("two fields of one table are called '" + std::string(name) + "'");
  object[std::string(name)] = std::move(value);
}

void JsonWriter::field(std::string_view name, std::uint32_t& value, Range<std::uint32_t>,
                       std::string_view, std::string_view) {
  put(name, value);
}
void JsonWriter::field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>,
                       std::string_view, std::string_view) {
  put(name, value);
}
void JsonWriter::field(std::string_view name, double& value, Range<double>, std::string_view,
                       std::string_view) {
  put(name, value);
}
void JsonWriter::field(std::string_view name, bool& value, std::string_view) { put(name, value); }
void JsonWriter::field(std::string_view name, std::string& value, std::string_view) {
  put(name, value);
}
void JsonWriter::choice_index(std::string_view name, std::uint32_t& position,
                              std::span<const std::string_view> names, std::string_view) {
  RADDLE_ASSERT(position < names.size());
  put(name, std::string(names[position]));
}

void JsonWriter::enter(std::string_view name, std::string_view) {
  levels_.push_back({std::string(name)});
}

void JsonWriter::leave() {
  RADDLE_ASSERT(levels_.size() > 1);
  Level inner = std::move(levels_.back());
  levels_.pop_back();
  put(inner.name, std::move(inner.object));
}

nlohmann::ordered_json JsonWriter::take() {
  RADDLE_ASSERT(levels_.size() == 1);
  nlohmann::ordered_json all = std::move(levels_[0].object);
  levels_.assign(1, {});
  return all;
}

}  // namespace raddle::config
