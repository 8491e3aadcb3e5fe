// One description of a struct's fields serves five users: reading with checks, the resolved dump,
// documentation, statistics output and hashing. A struct takes part by having
//     void visit(FieldVisitor& v) { v.field("size_kib", size_kib, {1, 4096}, "KiB", "capacity"); }
// Whoever reads or writes fields (TOML reader, JSON writer, ...) derives from FieldVisitor.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace raddle {

/// Inclusive bounds of a numeric field.
template <class T>
struct Range {
  T low = std::numeric_limits<T>::lowest();
  T high = std::numeric_limits<T>::max();
};

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  // Scalars. `unit` is "" for plain numbers; `doc` is one line of plain English.
  virtual void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
                     std::string_view unit, std::string_view doc) = 0;
  virtual void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
                     std::string_view unit, std::string_view doc) = 0;
  virtual void field(std::string_view name, double& value, Range<double> range,
                     std::string_view unit, std::string_view doc) = 0;
  virtual void field(std::string_view name, bool& value, std::string_view doc) = 0;
  virtual void field(std::string_view name, std::string& value, std::string_view doc) = 0;

  /// Bracket the fields of a nested struct; names nest as "outer.inner".
  virtual void enter(std::string_view name, std::string_view doc) = 0;
  virtual void leave() = 0;

  template <class Struct>
  void nested(std::string_view name, Struct& value, std::string_view doc) {
    enter(name, doc);
    value.visit(*this);
    leave();
  }

  /// A named choice, stored as an enum whose values count from 0 in the order of `names`.
  template <class Enum>
  void choice(std::string_view name, Enum& value, std::span<const std::string_view> names,
              std::string_view doc) {
    auto position = static_cast<std::uint32_t>(value);
    choice_index(name, position, names, doc);
    value = static_cast<Enum>(position);
  }

 protected:
  virtual void choice_index(std::string_view name, std::uint32_t& position,
                            std::span<const std::string_view> names, std::string_view doc) = 0;
};

}  // namespace raddle
