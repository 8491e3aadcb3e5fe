// A small configuration that has every kind of field.
#pragma once
#include <array>
#include <string>

#include "raddle/base/fields.h"

namespace raddle::config {

enum class Write : std::uint8_t { Through, Back };
inline constexpr std::array<std::string_view, 2> kWriteNames = {"through", "back"};

struct Cache {
  std::uint32_t size_kib = 16;
  std::uint64_t seed = 1;
  double ratio = 0.25;
  bool sectored = true;
  Write write = Write::Through;
  void visit(FieldVisitor& v) {
    v.field("size_kib", size_kib, {1, 4096}, "KiB", "capacity");
    v.field("seed", seed, {}, "", "any number");
    v.field("ratio", ratio, {0.0, 1.0}, "", "share of it");
    v.field("sectored", sectored, "parts of a line are valid by themselves");
    v.choice("write", write, kWriteNames, "where a write goes");
  }
};

struct Sample {
  std::string name = "unnamed";
  std::uint32_t count = 1;
  Cache l1d, l2;
  void visit(FieldVisitor& v) {
    v.field("name", name, "what it is called");
    v.field("count", count, {1, std::numeric_limits<std::uint32_t>::max()}, "", "how many");
    v.nested("l1d", l1d, "first level");
    v.nested("l2", l2, "second level");
  }
};

}  // namespace raddle::config
