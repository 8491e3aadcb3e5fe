// How policies are found, and that what the source tree has is what the registries have.
#include "raddle/policy/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "raddle/policy/all.h"
#include "raddle_paths.h"

#include "support/no_fields.h"

namespace raddle::policy::registry_test {
namespace {

class First final : public WarpPolicy {
 public:
  struct Params {
    std::uint32_t answer = 3;
    void visit(FieldVisitor& v) { v.field("answer", answer, {}, "", "what it answers"); }
  };
  First(const Params& params, const Context& context)
      : answer_(params.answer + context.first_slot) {}
  unsigned pick(const WarpView&) override { return answer_; }

 private:
  unsigned answer_;
};

/// Sets every whole number to one value.
class Setter final : public test::NoFields {
 public:
  explicit Setter(std::uint32_t value) : value_(value) {}
  void field(std::string_view, std::uint32_t& value, Range<std::uint32_t>, std::string_view,
             std::string_view) override {
    value = value_;
  }

 private:
  std::uint32_t value_;
};

unsigned answer_of(const Choice<WarpPolicy>& choice, unsigned first_slot) {
  WarpPolicy::Context context;
  context.first_slot = first_slot;
  AgeMatrix64 age;
  return choice.make(context)->pick({1, 1, age, 0});
}

TEST(Registry, MakesInstancesWithTheParametersOfTheChoice) {
  Registry<WarpPolicy> registry;
  registry.add<First>("first", "answers a constant");
  auto choice = registry.choose("first");
  EXPECT_EQ(choice->name(), "first");
  EXPECT_EQ(choice->doc(), "answers a constant");
  EXPECT_EQ(answer_of(*choice, 0), 3u) << "the default";
  Setter set(20);
  choice->visit(set);
  EXPECT_EQ(answer_of(*choice, 0), 20u);
  EXPECT_EQ(answer_of(*choice, 16), 36u) << "each instance has its own context";
  EXPECT_EQ(answer_of(*registry.choose("first"), 0), 3u) << "another choice is not touched";
}

TEST(Registry, AnUnknownNameListsTheKnownOnes) {
  try {
    all_policies().warp.choose("gtoo");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("no warp policy is called 'gtoo'; known: "));
    EXPECT_THAT(error.what(), testing::HasSubstr(" gto lrr"));
  }
}

TEST(Registry, RefusesTheSameNameTwice) {
  Registry<WarpPolicy> registry;
  registry.add<First>("first", "");
  EXPECT_THROW(registry.add<First>("first", ""), InputError);
}

/// Answers a constant, and is no class that add() could be told.
class Constant final : public Choice<WarpPolicy> {
 public:
  explicit Constant(std::uint32_t value) : value_(value) {}
  std::string_view name() const override { return "constant"; }
  std::string_view doc() const override { return "made at run time"; }
  void visit(FieldVisitor& v) override { v.field("value", value_, {0, 63}, "", "the answer"); }
  std::unique_ptr<WarpPolicy> make(const Context& context) const override {
    First::Params params;
    params.answer = value_;
    return std::make_unique<First>(params, context);
  }
  std::unique_ptr<Choice> fresh() const override { return std::make_unique<Constant>(default_); }

 private:
  std::uint32_t value_, default_ = value_;
};

TEST(Registry, TakesPoliciesThatAreMadeAtRunTime) {
  Registry<WarpPolicy> registry;
  registry.add(std::make_unique<Constant>(5));
  const auto choice = registry.choose("constant");
  EXPECT_EQ(choice->doc(), "made at run time");
  Setter set(20);
  choice->visit(set);
  EXPECT_EQ(answer_of(*choice, 0), 20u);
  EXPECT_EQ(answer_of(*registry.choose("constant"), 0), 5u) << "as it was added";
  EXPECT_THROW(registry.add(std::make_unique<Constant>(6)), InputError) << "the name is taken";
  registry.remove("constant");
  registry.remove("constant");
  EXPECT_THROW(registry.choose("constant"), InputError);
}

/// Names of the .cpp files of a level.
std::set<std::string> files_of(std::string_view level) {
  std::set<std::string> names;
  const std::filesystem::path folder =
      std::string(RADDLE_SOURCE_DIR) + "/src/raddle/policy/" + std::string(level);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cpp") names.insert(entry.path().stem());
  return names;
}

template <class Interface>
void expect_one_policy_per_file(const Registry<Interface>& registry) {
  const std::vector<std::string> names = registry.names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), files_of(Interface::kLevel));
  for (const std::string& name : names) EXPECT_FALSE(registry.choose(name)->doc().empty()) << name;
}

TEST(AllPolicies, AreTheFilesOfTheSourceTree) {
  const Registries all = all_policies();
  each_level(
      [](const Level& level, const auto& registry) {
        SCOPED_TRACE(std::string(level.name));
        expect_one_policy_per_file(registry);
        EXPECT_NO_THROW(registry.choose(level.default_policy));
      },
      all);
}

TEST(Levels, AnOptionalLevelShowsOnlyWhatIsNotItsDefault) {
  const Level* scheme = find_level("scheme");
  ASSERT_NE(scheme, nullptr);
  EXPECT_FALSE(scheme->shows("none"));
  EXPECT_TRUE(scheme->shows("spatial"));
  EXPECT_TRUE(find_level("warp")->shows("gto"));
  EXPECT_EQ(find_level("schema"), nullptr);
}

TEST(Levels, ADefaultOfAnOptionalLevelHasNoParameters) {
  class Count final : public test::NoFields {
   public:
    void field(std::string_view, std::uint32_t&, Range<std::uint32_t>, std::string_view,
               std::string_view) override {
      ++fields;
    }
    void field(std::string_view, double&, Range<double>, std::string_view,
               std::string_view) override {
      ++fields;
    }
    void field(std::string_view, bool&, std::string_view) override { ++fields; }
    unsigned fields = 0;
  };
  const Registries all = all_policies();
  each_level(
      [](const Level& level, const auto& registry) {
        if (level.shown != Shown::Optional) return;
        Count count;
        registry.choose(level.default_policy)->visit(count);
        EXPECT_EQ(count.fields, 0u) << level.name;
      },
      all);
}

TEST(AllPolicies, HaveTheNamesOfTheContract) {
  const Registries all = all_policies();
  for (const char* name : {"lrr", "gto", "two_level"})
    EXPECT_EQ(all.warp.choose(name)->name(), name);
  for (const char* name : {"none", "swl", "ccws"})
    EXPECT_EQ(all.throttle.choose(name)->name(), name);
  for (const char* name : {"rr", "chunk"}) EXPECT_EQ(all.block.choose(name)->name(), name);
  for (const char* name : {"clams", "fcfs", "frfcfs"})
    EXPECT_EQ(all.dram.choose(name)->name(), name);
}

}  // namespace
}  // namespace raddle::policy::registry_test
