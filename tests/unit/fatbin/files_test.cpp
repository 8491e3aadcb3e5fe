// What nvcc 13 really wrote (tests/data/fatbin), for machines without nvcc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/fatbin/fatbin.h"
#include "raddle_paths.h"
#include "support/process.h"
#include "unit/fatbin/builder.h"

namespace raddle::fatbin::files_test {
namespace {

using testing::HasSubstr;

struct FileCase {
  const char* name;
  std::size_t entries;
  Compression compression;
  const char* options;
};

class Files : public testing::TestWithParam<FileCase> {};

TEST_P(Files, HoldTheKernel) {
  const auto path = std::filesystem::path(RADDLE_SOURCE_DIR) / "tests/data/fatbin" /
                    (std::string(GetParam().name) + ".fatbin");
  const std::string bytes = test::read_file(path);
  const auto entries = read(view(bytes), GetParam().name);
  ASSERT_EQ(entries.size(), GetParam().entries);
  EXPECT_EQ(entries.back().compression, GetParam().compression);
  EXPECT_THAT(entries.back().options, HasSubstr(GetParam().options));
  for (const Entry& entry : entries) {
    EXPECT_EQ(entry.kind, Kind::Ptx);
    EXPECT_THAT(entry.text(), HasSubstr(".visible .entry _Z5twicePi("));
    EXPECT_THAT(entry.text(), HasSubstr(".version 9.0\n"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, Files,
    testing::Values(FileCase{"zstd", 2, Compression::Zstd, "--generate-line-info"},
                    FileCase{"lz4", 1, Compression::Lz4, "-maxrregcount=32"},
                    FileCase{"plain", 1, Compression::None, ""},
                    FileCase{"relocatable", 1, Compression::Zstd, "--compile-only"},
                    FileCase{"two", 2, Compression::Lz4, "-maxrregcount=32"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace raddle::fatbin::files_test
