// A visitor that looks at nothing: tests override what they look at.
#pragma once
#include "raddle/base/fields.h"

namespace raddle::test {

class NoFields : public FieldVisitor {
 public:
  void field(std::string_view, std::uint32_t&, Range<std::uint32_t>, std::string_view,
             std::string_view) override {}
  void field(std::string_view, std::uint64_t&, Range<std::uint64_t>, std::string_view,
             std::string_view) override {}
  void field(std::string_view, double&, Range<double>, std::string_view,
             std::string_view) override {}
  void field(std::string_view, bool&, std::string_view) override {}
  void field(std::string_view, std::string&, std::string_view) override {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}

 protected:
  void choice_index(std::string_view, std::uint32_t&, std::span<const std::string_view>,
                    std::string_view) override {}
};

}  // namespace raddle::test
