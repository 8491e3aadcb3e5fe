// Lines of source files beside the figures of an analysis.
#include "raddle/report/source_texts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "raddle/base/files.h"

namespace raddle::report::source_texts_test {
namespace {

TEST(SourceTexts, ALineComesWithoutTheBlanksAroundIt) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string file = (folder.path() / "a.cu").string();
  write_file(file, "first\n\t  x = y;\t\r\n\nlast without end");
  SourceTexts texts;
  EXPECT_EQ(texts.line(file, 1), "first");
  EXPECT_EQ(texts.line(file, 2), "x = y;");
  EXPECT_EQ(texts.line(file, 3), "");
  EXPECT_EQ(texts.line(file, 4), "last without end");
  EXPECT_EQ(texts.line(file, 0), "");
  EXPECT_EQ(texts.line(file, 5), "");
}

TEST(SourceTexts, WhatIsNoFileIsNoError) {
  SourceTexts texts;
  EXPECT_EQ(texts.line("/proc/nowhere/a.cu", 1), "");
  EXPECT_EQ(texts.line("/dev/zero", 1), "");
  EXPECT_EQ(texts.line("/", 1), "");
}

// Names come from whoever made a recording, and pages are passed on.
TEST(SourceTexts, NothingButSourcesIsOpened) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string secret = (folder.path() / "passwords").string(),
                    pipe = (folder.path() / "pipe.cu").string();
  write_file(secret, "root");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  SourceTexts texts;
  EXPECT_EQ(texts.line(secret, 1), "");
  EXPECT_EQ(texts.line(pipe, 1), "") << "and nobody waits for it";
}

TEST(SourceTexts, WhatATerminalWouldObeyIsABlank) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string file = (folder.path() / "a.cu").string();
  write_file(file, "a\x1b[31mb\tc\xff\n");
  SourceTexts texts;
  EXPECT_EQ(texts.line(file, 1), "a [31mb c\\xff");
}

TEST(SourceTexts, OnlyLinesWithFiguresGoIntoAReport) {
  const TemporaryFolder folder("raddle-test-source-");
  const std::string file = (folder.path() / "a.cu").string();
  write_file(file, "one\ntwo\nthree\n");
  nlohmann::ordered_json with, without = {{"totals", 1}};
  with["analysis"]["source"]["kernels"]["k"]["lines"] = {
      {{"line", 9}, {"source", {{"file", file}, {"line", 2}}}},
      {{"line", 10}},
      {{"line", 11}, {"source", {{"file", "/proc/nowhere/b.h"}, {"line", 2}}}}};
  with["analysis"]["source"]["kernels"]["idle"]["file"] = "x.ptx";
  EXPECT_EQ(source_texts({&without, &with}), (nlohmann::ordered_json{{file, {{"2", "two"}}}}));
  EXPECT_EQ(source_texts({&without}), nlohmann::ordered_json::object());
}

}  // namespace
}  // namespace raddle::report::source_texts_test
