// The source analysis as text: which lines, in which order, with which figures.
#include "raddle/cli/shared/source_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/files.h"

namespace raddle::cli::source_table_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json line(unsigned number, const char* instruction, unsigned issued, Json warps) {
  return {{"line", number},
          {"instruction", instruction},
          {"issued", issued},
          {"thread_instructions", 16 * issued},
          {"memory_lines", 0},
          {"l1d_hits", 0},
          {"l1d_pending_hits", 0},
          {"l1d_misses", 0},
          {"warps", std::move(warps)},
          {"awaited", 0}};
}

Json two_kernels() {
  Json load = line(4, "ld.global.f32", 10, {{"lsu", 5}, {"ready", 5}});
  load["memory_lines"] = 80;
  load["l1d_hits"] = 20;
  load["l1d_misses"] = 60;
  load["awaited"] = 65;
  Json out = {{"looks", 50}, {"kernels", Json::object()}};
  out["kernels"]["_Z5smallv"] = {{"file", "a.ptx"},
                                 {"lines", {line(90, "exit", 1, {{"memory", 10}})}}};
  out["kernels"]["_Z3bigPf"] = {
      {"file", "a.ptx"},
      {"lines", {load, line(5, "add.f32", 10, {{"memory", 70}, {"dependence", 10}})}}};
  return out;
}

std::size_t place_of(const std::string& text, const std::string& what) { return text.find(what); }

TEST(SourceTable, TheLineWithMostOfTheTimeComesFirst) {
  const std::string text = source_table(two_kernels(), {});
  EXPECT_THAT(text, HasSubstr("big (a.ptx): 90.0 % of the warps' time"));
  EXPECT_THAT(text, HasSubstr("small (a.ptx): 10.0 % of the warps' time"));
  EXPECT_LT(place_of(text, "big (a.ptx)"), place_of(text, "small (a.ptx)"));
  EXPECT_LT(place_of(text, "5 add.f32"), place_of(text, "4 ld.global.f32"));
  EXPECT_THAT(text, HasSubstr("80.0 %  memory 70.0, dependence 10.0"));
  EXPECT_THAT(text, HasSubstr("50 looks have seen 100 warps"));
}

TEST(SourceTable, AnAccessHasLinesAndHits) {
  const std::string text = source_table(two_kernels(), {});
  const std::size_t at = text.find("4 ld.global.f32");
  ASSERT_NE(at, std::string::npos);
  const std::string row = text.substr(text.rfind('\n', at) + 1, at);
  EXPECT_THAT(row, AllOf(HasSubstr(" 10.0 %  lsu 5.0, ready 5.0"), HasSubstr(" 16.0 "),
                         HasSubstr(" 8.0 "), HasSubstr(" 25.0 %"), HasSubstr(" 65.0 % ")));
}

TEST(SourceTable, OnlySoManyLinesOfAKernel) {
  const std::string text = source_table(two_kernels(), {.maximum = 1});
  EXPECT_THAT(text, AllOf(HasSubstr("and 1 more lines"), Not(HasSubstr("ld.global"))));
  EXPECT_THAT(source_table(two_kernels(), {.maximum = 0}), Not(HasSubstr("more lines")));
}

TEST(SourceTable, LinesOfTheCudaSourceTakeThePtxLinesOfTheirs) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string file = (folder.path() / "a.cu").string();
  write_file(file, "// one\n  sum += in[i];  \n");
  Json source = two_kernels();
  for (Json& of : source["kernels"]["_Z3bigPf"]["lines"])
    of["source"] = {{"file", file}, {"line", 2}};
  const std::string text = source_table(source, {});
  EXPECT_THAT(text, HasSubstr("90.0 %  memory 70.0, dependence 10.0, lsu 5.0"));
  EXPECT_THAT(text, HasSubstr("a.cu:2 sum += in[i];\n"));
  EXPECT_THAT(text, HasSubstr("90 exit")) << "the other kernel has none";
  const std::string ptx = source_table(source, {.lines = SourceTableOptions::Lines::Ptx});
  EXPECT_THAT(ptx, AllOf(HasSubstr("5 add.f32"), Not(HasSubstr("a.cu"))));
}

TEST(SourceTable, AmongLinesOfTheCudaSourceThoseOfThePtxSaySo) {
  Json source = two_kernels();
  source["kernels"]["_Z3bigPf"]["lines"][0]["source"] = {{"file", "/proc/nowhere/b.h"},
                                                         {"line", 2}};
  const std::string text = source_table(source, {});
  EXPECT_THAT(text, AllOf(HasSubstr("b.h:2 "), HasSubstr("PTX:5 add.f32")));
  EXPECT_THAT(text, HasSubstr("  90 exit")) << "all lines of that kernel are the PTX's";
}

TEST(SourceTable, ALongLineIsCutBetweenCharacters) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string file = (folder.path() / "a.cu").string();
  std::string umlauts;
  for (unsigned i = 0; i < 60; ++i) umlauts += "\xC3\xA4";
  for (const char* before : {"", "x"}) {
    write_file(file, before + umlauts + "\n");
    Json source = two_kernels();
    for (Json& of : source["kernels"]["_Z3bigPf"]["lines"])
      of["source"] = {{"file", file}, {"line", 1}};
    EXPECT_THAT(source_table(source, {}), HasSubstr("\xC3\xA4...\n")) << before;
  }
}

TEST(SourceTable, AFileThatIsNotThereLeavesItsNumber) {
  Json source = two_kernels();
  for (Json& of : source["kernels"]["_Z3bigPf"]["lines"])
    of["source"] = {{"file", "/proc/nowhere/b.h"}, {"line", 2}};
  EXPECT_THAT(source_table(source, {}), HasSubstr("b.h:2 \n"));
}

TEST(SourceTable, ARunWithoutKernelsHasNoTable) {
  EXPECT_THAT(source_table({{"looks", 0}, {"kernels", Json::object()}}, {}),
              HasSubstr("0 looks have seen 0 warps"));
}

}  // namespace
}  // namespace raddle::cli::source_table_test
