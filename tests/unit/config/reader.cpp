#include "raddle/config/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.h"

namespace raddle::config::reader_test {
namespace {

using testing::HasSubstr;

Sample read(const Tree& tree) {
  Sample sample;
  Reader reader(tree);
  sample.visit(reader);
  reader.finish();
  return sample;
}

/// The error a document gives, "" if none.
std::string error_in(const Tree& tree) {
  try {
    read(tree);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
std::string error_in(std::string_view toml) { return error_in(Tree::from_toml(toml, "m.toml")); }

TEST(Reader, FillsEveryKindOfField) {
  const Sample s = read(
      Tree::from_toml("name = 'n'\ncount = 3\n[l1d]\nsize_kib = 64\nratio = 1\nsectored = false\n"
                      "write = 'back'\n[l2]\nratio = 0.125\n",
                      "m.toml"));
  EXPECT_EQ(s.name, "n");
  EXPECT_EQ(s.count, 3u);
  EXPECT_EQ(s.l1d.size_kib, 64u);
  EXPECT_EQ(s.l1d.ratio, 1.0) << "a whole number is a number";
  EXPECT_FALSE(s.l1d.sectored);
  EXPECT_EQ(s.l1d.write, Write::Back);
  EXPECT_EQ(s.l2.ratio, 0.125);
  EXPECT_EQ(s.l2.size_kib, 16u) << "left at its default";
}

TEST(Reader, NamesUnknownKeysAndTheNearestKnownOne) {
  EXPECT_EQ(error_in("[l1d]\nsize_kb = 1\n"),
            "m.toml:2:1: l1d.size_kb: unknown key; did you mean 'size_kib'?");
  EXPECT_EQ(error_in("cuont = 1\n"), "m.toml:1:1: cuont: unknown key; did you mean 'count'?");
  EXPECT_EQ(error_in("[l1D]\nsize_kib = 1\n"), "m.toml:1:2: l1D: unknown key; did you mean 'l1d'?");
}

TEST(Reader, ListsWhatIsKnownWhenNothingIsNear) {
  EXPECT_EQ(error_in("zzzzzzzz = 1\n"),
            "m.toml:1:1: zzzzzzzz: unknown key; known: count l1d l2 name");
}

TEST(Reader, SaysWhereAKeyOfAnotherTableBelongs) {
  struct One {
    std::uint32_t only_here = 0;
    void visit(FieldVisitor& v) {
      v.enter("deep", "");
      v.field("only_here", only_here, {}, "", "");
      v.leave();
    }
  } one;
  const Tree tree = Tree::from_toml("only_here = 1\n", "m.toml");
  Reader reader(tree);
  one.visit(reader);
  try {
    reader.finish();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "m.toml:1:1: only_here: unknown key; did you mean 'deep.only_here'?");
  }
}

TEST(Reader, WrongTypes) {
  EXPECT_EQ(error_in("name = 5\n"), "m.toml:1:8: name: expected a text in quotes, found 5");
  EXPECT_EQ(error_in("[l1d]\nsize_kib = \"64\"\n"),
            "m.toml:2:12: l1d.size_kib: expected a whole number from 1 to 4096 KiB, found \"64\"");
  EXPECT_EQ(error_in("[l1d]\nsize_kib = 64.0\n"),
            "m.toml:2:12: l1d.size_kib: expected a whole number from 1 to 4096 KiB, found 64.0");
  EXPECT_EQ(error_in("[l1d]\nseed = true\n"),
            "m.toml:2:8: l1d.seed: expected a whole number, found true");
  EXPECT_EQ(error_in("[l1d]\nsectored = 1\n"),
            "m.toml:2:12: l1d.sectored: expected true or false, found 1");
  EXPECT_EQ(error_in("[l1d]\nratio = [1]\n"),
            "m.toml:2:9: l1d.ratio: expected a number from 0 to 1, found a list");
  EXPECT_EQ(error_in("[l1d]\nratio = 2020-01-01\n"),
            "m.toml:2:9: l1d.ratio: expected a number from 0 to 1, found a date or time");
  EXPECT_EQ(error_in("l1d = 5\n"), "m.toml:1:7: l1d: expected a table, found 5");
  EXPECT_EQ(error_in("[count]\nx = 1\n"),
            "m.toml:1:1: count: expected a whole number of at least 1, found a table");
}

TEST(Reader, OutOfRange) {
  EXPECT_THAT(error_in("[l1d]\nsize_kib = 0\n"), HasSubstr("from 1 to 4096 KiB, found 0"));
  EXPECT_THAT(error_in("[l1d]\nsize_kib = 4097\n"), HasSubstr("from 1 to 4096 KiB, found 4097"));
  EXPECT_THAT(error_in("[l1d]\nsize_kib = -1\n"), HasSubstr("from 1 to 4096 KiB, found -1"));
  EXPECT_THAT(error_in("[l1d]\nseed = -1\n"), HasSubstr("expected a whole number, found -1"));
  EXPECT_THAT(error_in("count = 4294967296\n"), HasSubstr("of at least 1, found 4294967296"));
  EXPECT_THAT(error_in("[l1d]\nratio = nan\n"),
              HasSubstr("expected a number from 0 to 1, found nan"));
  EXPECT_THAT(error_in("[l1d]\nratio = inf\n"),
              HasSubstr("expected a number from 0 to 1, found inf"));
}

TEST(Reader, AnUnknownChoiceListsTheChoices) {
  EXPECT_EQ(error_in("[l1d]\nwrite = 'away'\n"),
            "m.toml:2:9: l1d.write: expected one of \"through\" \"back\", found \"away\"");
  EXPECT_EQ(error_in("[l1d]\nwrite = 1\n"),
            "m.toml:2:9: l1d.write: expected one of \"through\" \"back\", found 1");
}

TEST(Reader, AChoiceWhoseNamesAreNumbersTakesNumbers) {
  struct Addresses {
    Write bits = Write::Through;
    void visit(FieldVisitor& v) {
      static constexpr std::array<std::string_view, 2> kBits = {"64", "32"};
      v.choice("bits", bits, kBits, "of an address");
    }
  };
  const auto bits = [](const Tree& tree) {
    Addresses addresses;
    Reader reader(tree);
    addresses.visit(reader);
    reader.finish();
    return addresses.bits;
  };
  EXPECT_EQ(bits(Tree::from_toml("bits = 32", "m.toml")), Write::Back);
  EXPECT_EQ(bits(Tree::from_toml("bits = '32'", "m.toml")), Write::Back);
  EXPECT_EQ(bits(Tree::from_json(R"({"bits": 32})", "m.json")), Write::Back);
  Tree tree;
  tree.set_option("bits=32", "--set bits=32");
  EXPECT_EQ(bits(tree), Write::Back);
  EXPECT_THROW(bits(Tree::from_toml("bits = 33", "m.toml")), InputError);
}

TEST(Reader, NothingBehindAnOptionIsATextOnly) {
  Tree tree;
  tree.set_option("name=", "--set name=");
  EXPECT_EQ(read(tree).name, "");
  tree.set_option("count=", "--set count=");
  EXPECT_EQ(error_in(tree),
            "--set count=: count: expected a whole number of at least 1, found \"\"");
}

TEST(Reader, TellsAllErrorsAtOnceInOrderOfPlace) {
  EXPECT_EQ(error_in("count = 0\nfoo = 1\n[l1d]\nsize_kib = 'x'\nratio = 2\n"),
            "m.toml:1:9: count: expected a whole number of at least 1, found 0\n"
            "m.toml:2:1: foo: unknown key; known: count l1d l2 name\n"
            "m.toml:4:12: l1d.size_kib: expected a whole number from 1 to 4096 KiB, found \"x\"\n"
            "m.toml:5:9: l1d.ratio: expected a number from 0 to 1, found 2");
}

TEST(Reader, TheCommandLineIsNamedAsThePlace) {
  Tree tree;
  tree.set_option("l1d.size_kib=9999", "--set l1d.size_kib=9999");
  EXPECT_EQ(error_in(tree),
            "--set l1d.size_kib=9999: l1d.size_kib: expected a whole number from 1 to 4096 KiB, "
            "found 9999");
}

TEST(Reader, ReadsSeveralStructsFromOneTree) {
  const Tree tree =
      Tree::from_toml("[a]\nsize_kib = 1\n[b.c]\nsize_kib = 2\nextra = 1\n", "m.toml");
  Cache a, c;
  std::uint32_t extra = 0;
  Reader reader(tree);
  reader.nested("a", a, "");
  reader.enter("b", "");
  reader.enter("c", "");
  EXPECT_TRUE(reader.has("extra"));
  EXPECT_FALSE(reader.has("nothing"));
  c.visit(reader);
  reader.field("extra", extra, {}, "", "");
  reader.leave();
  reader.leave();
  reader.finish();
  EXPECT_EQ(a.size_kib, 1u);
  EXPECT_EQ(c.size_kib, 2u);
  EXPECT_EQ(extra, 1u);
}

TEST(Reader, FailSaysItsPlace) {
  const Tree tree = Tree::from_toml("count = 4\n[l1d]\nsize_kib = 3\nseed = 5\n", "m.toml");
  Sample sample;
  Reader reader(tree);
  sample.visit(reader);
  EXPECT_FALSE(reader.failed());
  reader.fail("l1d.size_kib must be even, l1d.size_kib_x and count do not matter");
  reader.fail("nothing in the document is named here");
  reader.fail("count", "is too much");
  EXPECT_TRUE(reader.failed());
  try {
    reader.finish();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "m.toml: nothing in the document is named here\n"
                 "m.toml:1:9: count: is too much\n"
                 "m.toml:3:12: l1d.size_kib must be even, l1d.size_kib_x and count do not matter");
  }
}

TEST(Reader, IgnoreRestTakesTheOtherKeysOfTheTableAsKnown) {
  const Tree tree = Tree::from_toml("[warp]\nname = 'none'\nparameter = 3\n", "m.toml");
  Reader reader(tree);
  std::string name;
  reader.enter("warp", "");
  reader.field("name", name, "");
  reader.fail("name", "no such policy");
  reader.ignore_rest();
  reader.leave();
  try {
    reader.finish();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "m.toml:2:8: warp.name: no such policy");
  }
}

TEST(Reader, AnEmptyTreeLeavesTheDefaults) {
  const Sample s = read(Tree());
  EXPECT_EQ(s.name, "unnamed");
  EXPECT_EQ(s.l1d.size_kib, 16u);
}

TEST(Reader, TwoFieldsOfOneNameAreRefused) {
  const Tree tree;
  Reader reader(tree);
  std::string text;
  reader.field("a", text, "");
  EXPECT_THROW(reader.field("a", text, ""), InputError);
}

}  // namespace
}  // namespace raddle::config::reader_test
