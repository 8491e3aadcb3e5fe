// Adds up the statistics of a policy's instances, field by field, and tells the sums as if they
// were one instance's.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/fields.h"

namespace raddle::timing {

class SumFields final : private FieldVisitor {
 public:
  /// `instance` has visit_statistics(FieldVisitor&); all instances must tell the same fields.
  template <class Instance>
  void add(Instance& instance) {
    at_ = 0;
    instance.visit_statistics(*this);
    first_ = false;
  }
  void notify(FieldVisitor& v) {
    for (Field& f : fields_) {
      if (auto* n = std::get_if<std::uint64_t>(&f.value)) v.field(f.name, *n, {}, f.unit, f.doc);
      else if (auto* d = std::get_if<double>(&f.value)) v.field(f.name, *d, {}, f.unit, f.doc);
      else if (f.name.empty()) v.leave();
      else v.enter(f.name, f.doc);
    }
  }

 private:
  struct Field {
    std::string name, unit, doc;
    std::variant<std::monostate, std::uint64_t, double>
        value;  // monostate: start of a group; without a name: its end
  };
  template <class T>
  void add_number(std::string_view name, T value, std::string_view unit, std::string_view doc) {
    if (first_) fields_.push_back({std::string(name), std::string(unit), std::string(doc), T{}});
    RADDLE_ASSERT(at_ < fields_.size() && fields_[at_].name == name);
    std::get<T>(fields_[at_++].value) += value;
  }
  void bracket(std::string_view name, std::string_view doc) {
    if (first_) fields_.push_back({std::string(name), "", std::string(doc), {}});
    ++at_;
  }
  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t>,
             std::string_view unit, std::string_view doc) override {
    add_number<std::uint64_t>(name, value, unit, doc);
  }
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>,
             std::string_view unit, std::string_view doc) override {
    add_number<std::uint64_t>(name, value, unit, doc);
  }
  void field(std::string_view name, double& value, Range<double>, std::string_view unit,
             std::string_view doc) override {
    add_number<double>(name, value, unit, doc);
  }
  // Flags, texts and choices cannot be added up and are no statistics.
  void field(std::string_view, bool&, std::string_view) override {}
  void field(std::string_view, std::string&, std::string_view) override {}
  void choice_index(std::string_view, std::uint32_t&, std::span<const std::string_view>,
                    std::string_view) override {}
  void enter(std::string_view name, std::string_view doc) override { bracket(name, doc); }
  void leave() override { bracket("", ""); }

  std::vector<Field> fields_;
  std::size_t at_ = 0;
  bool first_ = true;
};

}  // namespace raddle::timing
