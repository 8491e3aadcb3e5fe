#include "raddle/config/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/config/said_once.h"
#include "support/errors.h"

#include <cstdio>
#include <fstream>

namespace raddle::config::tree_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string shown(const Tree& tree, std::string_view path) {
  const Node* node = tree.find(path);
  return node ? node->shown() : "nothing";
}

TEST(Toml, KeepsValuesAndTheirPlaces) {
  const Tree tree =
      Tree::from_toml("a = 1\n\n[b.c]\nd = 2.5\ne = 'x'\nf = true\ng = -3\nh = [1]\n", "m.toml");
  EXPECT_EQ(shown(tree, "a"), "1");
  EXPECT_EQ(shown(tree, "b"), "a table");
  EXPECT_EQ(shown(tree, "b.c.d"), "2.5");
  EXPECT_EQ(shown(tree, "b.c.e"), "\"x\"");
  EXPECT_EQ(shown(tree, "b.c.f"), "true");
  EXPECT_EQ(shown(tree, "b.c.g"), "-3");
  EXPECT_EQ(shown(tree, "b.c.h"), "a list");
  EXPECT_EQ(shown(tree, "b.c.z"), "nothing");
  EXPECT_EQ(shown(tree, "a.b"), "nothing");
  const Place place = tree.find("b.c.d")->place;
  EXPECT_EQ(place.file, "m.toml");
  EXPECT_EQ(place.line, 4u);
  EXPECT_EQ(place.column, 5u);
}

TEST(Toml, SaysWhereTheSyntaxIsWrong) {
  EXPECT_THAT(test::input_error_of([] { Tree::from_toml("a = 1\nb = = 2\n", "m.toml"); }),
              StartsWith("m.toml:2:"));
  EXPECT_THAT(test::input_error_of([] { Tree::from_toml("a = 1\na = 2\n", "m.toml"); }),
              StartsWith("m.toml:2:"));
  EXPECT_THAT(test::input_error_of([] { Tree::from_toml("[a]\nb = \"open", "m.toml"); }),
              StartsWith("m.toml:2:"));
  EXPECT_THAT(test::input_error_of([] { Tree::from_toml("a = 1\n[}b]\nc = 1\n", "m.toml"); }),
              StartsWith("m.toml:2:"));  // toml++ asserted it away
  for (const char* letter : {"\u00e9", "\u0431", "\u3042", "\ufe0f"}) {
    const std::string text = std::string("a = 1\n") + letter + " = 2\n";
    EXPECT_THAT(test::input_error_of([&] { Tree::from_toml(text, "m.toml"); }),
                StartsWith("m.toml:2:"))
        << letter;  // "unreachable" in toml++'s tables, which UBSan sees
  }
  EXPECT_EQ(test::input_error_of([] { Tree::from_toml("", "m.toml"); }),
            "m.toml: is empty; expected a configuration");
  EXPECT_EQ(test::input_error_of([] { Tree::from_toml("# nothing\n", "m.toml"); }),
            "m.toml: is empty; expected a configuration");
}

TEST(Json, KeepsValuesAndTheirLines) {
  const Tree tree = Tree::from_json(
      "{\"a\": 1,\n \"b\": {\n  \"c\": 18446744073709551615,\n  \"d\":\n  [1, {\"x\": [2]}],\n"
      "  \"e\": null, \"f\": -1, \"g\": 0.5}\n}",
      "r.json");
  EXPECT_EQ(shown(tree, "a"), "1");
  EXPECT_EQ(shown(tree, "b.c"), "18446744073709551615");
  EXPECT_EQ(shown(tree, "b.d"), "a list");
  EXPECT_EQ(shown(tree, "b.e"), "null");
  EXPECT_EQ(shown(tree, "b.f"), "-1");
  EXPECT_EQ(shown(tree, "b.g"), "0.5");
  EXPECT_EQ(tree.find("a")->place.line, 1u);
  EXPECT_EQ(tree.find("b.c")->place.line, 3u);
  EXPECT_EQ(tree.find("b.d")->place.line, 5u);
  EXPECT_EQ(tree.find("b.g")->place.line, 6u);
}

TEST(Json, OfAResultIsItsConfig) {
  const Tree tree =
      Tree::from_json("{\"schema\": 1, \"config\": {\"a\": 7}, \"totals\": {\"a\": 8}}", "r.json");
  EXPECT_EQ(shown(tree, "a"), "7");
  EXPECT_EQ(shown(tree, "totals"), "nothing");
  EXPECT_EQ(shown(Tree::from_json("{\"config\": {\"a\": 7}}", "x"), "config.a"), "7")
      << "no result without a schema";
}

TEST(Json, SaysWhatIsWrong) {
  EXPECT_THAT(test::input_error_of([] { Tree::from_json("{\"a\":\n 1", "r.json"); }),
              StartsWith("r.json:2: is not JSON: "));
  EXPECT_EQ(test::input_error_of([] { Tree::from_json("{\"a\": 1,\n\"a\": 2}", "r.json"); }),
            "r.json:2: key 'a' is given twice");
  EXPECT_EQ(test::input_error_of([] { Tree::from_json("{\"a\": 1e+320}", "r.json"); }),
            "r.json:1: is not JSON: number overflow parsing '1e+320'");
  EXPECT_EQ(test::input_error_of([] { Tree::from_json("[1]", "r.json"); }),
            "r.json:1: expected a table of keys, found a list");
  EXPECT_EQ(test::input_error_of([] { Tree::from_json("{}", "r.json"); }),
            "r.json: is empty; expected a configuration");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_EQ(test::input_error_of([&] { Tree::from_json(deep, "r.json"); }),
            "r.json:1: tables are nested deeper than 64");
}

class File {
 public:
  explicit File(const std::string& content) { std::ofstream(path, std::ios::binary) << content; }
  ~File() { std::remove(path.c_str()); }
  std::string path = testing::TempDir() + "raddle_tree_test_" + std::to_string(++made_) + ".toml";

 private:
  static inline int made_ = 0;
};

TEST(File, IsJsonWhenItStartsLikeJson) {
  File json("\n {\"a\": 1}");
  EXPECT_EQ(shown(Tree::from_file(json.path), "a"), "1");
  File toml("a = 2\n");
  EXPECT_EQ(shown(Tree::from_file(toml.path), "a"), "2");
}

TEST(File, ThatIsNoneIsRefused) {
  EXPECT_EQ(test::input_error_of([] { Tree::from_file("/no/such.toml"); }),
            "/no/such.toml: cannot be read: No such file or directory");
  EXPECT_EQ(test::input_error_of([] { Tree::from_file("/tmp"); }),
            "/tmp: is a folder; expected a configuration");
  EXPECT_EQ(test::input_error_of([] { Tree::from_file("/dev/zero"); }),
            "/dev/zero: is larger than 64 MiB; expected a configuration");
  File binary(std::string("ab\0c", 4));
  EXPECT_EQ(test::input_error_of([&] { Tree::from_file(binary.path); }),
            binary.path + ": is not a text file (byte 0 at offset 2)");
  File broken("a = \"\xff\xfe\"\n");
  EXPECT_THAT(test::input_error_of([&] { Tree::from_file(broken.path); }),
              StartsWith(broken.path + ":1:"));
  File empty("");
  EXPECT_EQ(test::input_error_of([&] { Tree::from_file(empty.path); }),
            empty.path + ": is empty; expected a configuration");
}

TEST(Set, TakesTomlValuesAndBareWords) {
  Tree tree;
  tree.set("sm.l1d.size_kib", "64", "--set");
  tree.set("sm.l1d.ratio", "0.5", "--set");
  tree.set("sm.l1d.on", "true", "--set");
  tree.set("policy.warp.name", "lrr", "--set");
  tree.set("policy.dram.name", "'two words'", "--set");
  tree.set("seed", "18446744073709551615", "--set");
  EXPECT_EQ(shown(tree, "sm.l1d.size_kib"), "64");
  EXPECT_EQ(shown(tree, "sm.l1d.ratio"), "0.5");
  EXPECT_EQ(shown(tree, "sm.l1d.on"), "true");
  EXPECT_EQ(shown(tree, "policy.warp.name"), "\"lrr\"");
  EXPECT_EQ(shown(tree, "policy.dram.name"), "\"two words\"");
  EXPECT_EQ(shown(tree, "seed"), "18446744073709551615");
}

TEST(Set, TakesNothingAsTheEmptyText) {
  Tree tree = Tree::from_toml("a = '0-3'\n", "m.toml");
  tree.set_option("a=", "--set a=");
  EXPECT_EQ(shown(tree, "a"), "\"\"");
}

TEST(Set, ReplacesValuesAndMergesTables) {
  Tree tree = Tree::from_toml("[a]\nx = 1\ny = 2\n", "m.toml");
  tree.set("a.x", "10", "--set a.x=10");
  tree.set("a", "{y = 20, z = 30}", "--set a");
  EXPECT_EQ(shown(tree, "a.x"), "10");
  EXPECT_EQ(shown(tree, "a.y"), "20");
  EXPECT_EQ(shown(tree, "a.z"), "30");
  EXPECT_EQ(tree.find("a.x")->place.file, "--set a.x=10");
  EXPECT_EQ(tree.find("a.y")->place.file, "--set a");
  EXPECT_EQ(tree.find("a.y")->place.line, 0u);
}

TEST(Set, RefusesWhatIsNoPathOrNoValue) {
  Tree tree;
  auto set = [&](std::string path, std::string value) {
    return test::input_error_of([&] { tree.set(path, value, "--set"); });
  };
  for (const char* path : {"", ".", "a.", ".a", "a..b", "a b", "a=b"})
    EXPECT_THAT(set(path, "1"),
                HasSubstr("--set: expected keys joined by dots such as sm.l1d.size_kib, found '"))
        << path;
  EXPECT_EQ(set("a", "1\nb = 2"), "--set: expected a value on one line, found a control character");
  EXPECT_EQ(set("a", "\"open"), "--set: expected a TOML value, found '\"open'");
  EXPECT_EQ(test::input_error_of([&] { tree.set_option("abc", "--set abc"); }),
            "--set abc: expected path=value, found 'abc'");
  EXPECT_TRUE(tree.root().table()->empty()) << "nothing was changed";
}

TEST(SetPolicy, ReplacesThePolicyWithItsParameters) {
  Tree tree = Tree::from_toml("[policy.warp]\nname = 'two_level'\ngroup_size = 4\n", "m.toml");
  tree.set_policy("warp=gto", "--policy");
  EXPECT_EQ(shown(tree, "policy.warp.name"), "\"gto\"");
  EXPECT_EQ(shown(tree, "policy.warp.group_size"), "nothing");
  tree.set_policy("warp=two_level:group_size=2,inner=gto", "--policy");
  EXPECT_EQ(shown(tree, "policy.warp.group_size"), "2");
  EXPECT_EQ(shown(tree, "policy.warp.inner"), "\"gto\"");
}

TEST(SetPolicy, SaysEachParameterOnce) {
  Tree tree;
  EXPECT_EQ(
      test::input_error_of([&] { tree.set_policy("warp=two_level:inner=gto,inner=lrr", "--p"); }),
      "--p: 'inner=gto' says that already: leave one out");
  EXPECT_EQ(test::input_error_of([&] { tree.set_policy("warp=gto:name=lrr", "--p"); }),
            "--p: 'warp=gto' says that already: leave one out");
}

TEST(SaidOnce, RefusesTheSameSettingAndWhatIsPartOfIt) {
  SaidOnce said;
  said.add("a.b=1", "--set a.b=1");
  said.add("a.bc=1", "--set a.bc=1");
  said.add("t={x=1, y={z=2}}", "--set t");
  said.add_path("seed", "--seed");
  said.add_policy("warp=gto:n=2", "--policy warp=gto:n=2");
  const auto refused = [&](const char* text) {
    return test::input_error_of([&] { said.add(text, "new"); });
  };
  EXPECT_EQ(refused("a.b=1"), "new: --set a.b=1 says that already: leave one out");
  EXPECT_THAT(refused("a.b=2"), StartsWith("new: --set a.b=1 says"));
  EXPECT_THAT(refused("a=2"), StartsWith("new: --set a.b=1 says"));
  EXPECT_THAT(refused("a.b.c=2"), StartsWith("new: --set a.b=1 says"));
  EXPECT_THAT(refused("t.y={z=3}"), StartsWith("new: --set t says"));
  EXPECT_THAT(refused("seed=3"), StartsWith("new: --seed says"));
  EXPECT_THAT(refused("policy.warp.n=3"), StartsWith("new: --policy warp=gto:n=2 says"));
  EXPECT_EQ(test::input_error_of([&] { said.add_policy("warp=lrr", "again"); }),
            "again: --policy warp=gto:n=2 says that already: leave one out");
  for (const char* other : {"a.c=1", "a.bcd=1", "t.y.w=1", "policy.warp.m=1"})
    EXPECT_EQ(refused(other), "no error") << other;
}

TEST(SetPolicy, RefusesOtherForms) {
  Tree tree;
  auto set = [&](std::string text) {
    return test::input_error_of([&] { tree.set_policy(text, "--policy"); });
  };
  for (const char* text : {"", "gto", "=gto", "warp:a=1", "w.x=gto"})
    EXPECT_THAT(
        set(text),
        StartsWith("--policy: expected LEVEL=NAME[:key=value,...] such as warp=gto, found '"))
        << text;
  EXPECT_THAT(set("warp="), StartsWith("--policy: expected the name of a policy after '='"));
  EXPECT_THAT(set("warp=gto:"), StartsWith("--policy: expected path=value"));
  EXPECT_THAT(set("warp=gto:a"), StartsWith("--policy: expected path=value"));
}

TEST(Merge, LaysOneTreeOverAnother) {
  Tree base = Tree::from_toml("x = 1\n[a]\ny = 1\n", "base");
  base.merge(Tree::from_toml("z = 3\n[a]\ny = 2\n", "over"));
  EXPECT_EQ(shown(base, "x"), "1");
  EXPECT_EQ(shown(base, "a.y"), "2");
  EXPECT_EQ(shown(base, "z"), "3");
  EXPECT_EQ(base.find("a.y")->place.file, "over");
}

TEST(Erase, RemovesAKeyWithAllBelow) {
  Tree tree = Tree::from_toml("x = 1\n[a.b]\ny = 1\n", "m");
  tree.erase("a.b");
  tree.erase("not.there");
  tree.erase("x.y");
  EXPECT_EQ(shown(tree, "a.b"), "nothing");
  EXPECT_EQ(shown(tree, "a"), "a table");
  EXPECT_EQ(shown(tree, "x"), "1");
}

TEST(Shown, LongTextsAreCut) {
  EXPECT_EQ((Node{std::string(100, 'a'), {}}.shown()), "\"" + std::string(60, 'a') + "...\"");
}

}  // namespace
}  // namespace raddle::config::tree_test
