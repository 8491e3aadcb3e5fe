#include "raddle/base/fields.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace raddle::fields_test {
namespace {

enum class Colour : std::uint8_t { Red, Green };
constexpr std::array<std::string_view, 2> kColourNames = {"red", "green"};

struct Inner {
  double weight = 1.5;
  void visit(FieldVisitor& v) { v.field("weight", weight, {0.0, 2.0}, "kg", "how heavy"); }
};

struct Outer {
  std::uint32_t small = 1;
  std::uint64_t big = 2;
  bool flag = true;
  std::string text = "t";
  Colour colour = Colour::Green;
  Inner inner;
  void visit(FieldVisitor& v) {
    v.field("small", small, {0, 9}, "", "");
    v.field("big", big, {}, "", "");
    v.field("flag", flag, "");
    v.field("text", text, "");
    v.choice("colour", colour, kColourNames, "");
    v.nested("inner", inner, "");
  }
};

/// Writes down what it is shown, and changes the choice.
class Recorder final : public FieldVisitor {
 public:
  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
             std::string_view, std::string_view) override {
    add(name, std::to_string(value) + " in " + std::to_string(range.low) + ".." +
                  std::to_string(range.high));
  }
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
             std::string_view, std::string_view) override {
    unbounded = range.low == 0 && range.high == std::numeric_limits<std::uint64_t>::max();
    add(name, std::to_string(value));
  }
  void field(std::string_view name, double& value, Range<double>, std::string_view unit,
             std::string_view) override {
    add(name, std::to_string(value) + std::string(unit));
  }
  void field(std::string_view name, bool& value, std::string_view) override {
    add(name, value ? "yes" : "no");
  }
  void field(std::string_view name, std::string& value, std::string_view) override {
    add(name, value);
  }
  void enter(std::string_view name, std::string_view) override { path += std::string(name) + "."; }
  void leave() override { path.clear(); }

  std::vector<std::string> seen;
  std::string path;
  bool unbounded = false;

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view) override {
    add(name, std::string(names[position]));
    position = 0;
  }

 private:
  void add(std::string_view name, const std::string& value) {
    seen.push_back(path + std::string(name) + "=" + value);
  }
};

TEST(Fields, AreShownInOrderWithTheirNesting) {
  Outer outer;
  Recorder recorder;
  outer.visit(recorder);
  EXPECT_EQ(recorder.seen,
            (std::vector<std::string>{"small=1 in 0..9", "big=2", "flag=yes", "text=t",
                                      "colour=green", "inner.weight=1.500000kg"}));
  EXPECT_TRUE(recorder.unbounded);
}

TEST(Fields, AChoiceIsStoredBackIntoTheEnum) {
  Outer outer;
  Recorder recorder;
  outer.visit(recorder);
  EXPECT_EQ(outer.colour, Colour::Red);
}

}  // namespace
}  // namespace raddle::fields_test
