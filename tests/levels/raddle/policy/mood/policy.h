// Level "mood": a level that exists in the tests only.
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"

namespace raddle::policy {

class MoodPolicy {
 public:
  static constexpr std::string_view kLevel = "mood";
  struct Context {};
  virtual ~MoodPolicy() = default;
  virtual std::uint32_t complaints() = 0;
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
