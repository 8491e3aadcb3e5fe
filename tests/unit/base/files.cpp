#include "raddle/base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "raddle/base/error.h"

namespace raddle::files_test {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() { fs::create_directories(folder_); }
  ~Files() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  const fs::path folder_ = fs::temp_directory_path() / ("raddle_files_" + std::to_string(getpid()));
};

TEST_F(Files, WritesAndReplaces) {
  write_file(path("a"), "first");
  write_file(path("a"), std::string_view("zero\0byte\n", 10));
  EXPECT_EQ(content(path("a")), std::string("zero\0byte\n", 10));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, AMissingFolderIsNamedWithTheReason) {
  try {
    write_file(path("no/such"), "x");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot write " + path("no/such") + ": No such file or directory");
  }
}

TEST_F(Files, WhatCannotBeReplacedStaysAndNothingIsLeftBehind) {
  fs::create_directories(path("folder/inside"));
  EXPECT_THROW(write_file(path("folder"), "x"), RunError);
  EXPECT_TRUE(fs::is_directory(path("folder/inside")));
  EXPECT_EQ(entries(), 1u);
}

// As root a rename would put a plain file in place of the machine's /dev/null.
TEST_F(Files, DevicesAndPipesAreWrittenToAndStay) {
  fs::create_symlink("/dev/null", path("null"));
  write_file(path("null"), "x");
  EXPECT_TRUE(fs::is_symlink(path("null")));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int end = open(path("pipe").c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(end, 0);
  write_file(path("pipe"), "text");
  std::string got(8, ' ');
  got.resize(static_cast<std::size_t>(std::max<ssize_t>(read(end, got.data(), got.size()), 0)));
  close(end);
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Files, AFullDiskIsSaidSo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fs::create_symlink("/dev/full", path("full.tmp" + std::to_string(getpid())));
  try {
    write_file(path("full"), "x");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, ATemporaryFolderIsItsOwnersAndGoneAfterwards) {
  fs::path was;
  {
    const TemporaryFolder one("raddle-test"), other("raddle-test");
    was = one.path();
    EXPECT_NE(was, other.path());
    EXPECT_EQ(fs::status(was).permissions(), fs::perms::owner_all);
    std::ofstream(was / "file") << "x";
  }
  EXPECT_FALSE(fs::exists(was));
}

std::string error_of_reading(const std::string& file, std::uint64_t maximum) {
  try {
    read_text(file, maximum, "a poem");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, ATextIsReadWholeOrRefusedByName) {
  const std::string text(3'000'000, 'x');
  write_file(path("poem"), text);
  EXPECT_EQ(read_text(path("poem"), text.size(), "a poem"), text);
  EXPECT_EQ(error_of_reading(path("poem"), 2 << 20),
            path("poem") + ": is larger than 2 MiB; expected a poem");
  EXPECT_EQ(error_of_reading(path(""), 1), path("") + ": is a folder; expected a poem");
  EXPECT_EQ(error_of_reading(path("none"), 1),
            path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(error_of_reading("/dev/zero", 8 << 20),
            "/dev/zero: is larger than 8 MiB; expected a poem");
  EXPECT_EQ(read_text("/dev/null", 1, "a poem"), "");
}

std::string reason(const std::string& file, Source source = Source::File) {
  try {
    check_readable(file, "a poem", source);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_F(Files, WhatCannotBeReadFromIsToldWithTheReason) {
  write_file(path("poem"), "x");
  fs::create_symlink("loop", path("loop"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(reason(path("poem")), "");
  EXPECT_EQ(reason(path("none")), path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(reason(path("poem/x")), path("poem/x") + ": cannot be read: Not a directory");
  EXPECT_EQ(reason(path("loop")),
            path("loop") + ": cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(reason(folder_), folder_.string() + ": is a folder; expected a poem");
  EXPECT_EQ(reason("/dev/null"), "/dev/null: is a device; expected a poem");
  EXPECT_EQ(reason(path("pipe")), path("pipe") + ": is a pipe; expected a poem");
  EXPECT_EQ(reason(""), "'': cannot be read: No such file or directory");
  EXPECT_EQ(reason("/dev/null", Source::Stream), "");
  EXPECT_EQ(reason(path("pipe"), Source::Stream), "");
  EXPECT_EQ(reason(folder_, Source::Stream), folder_.string() + ": is a folder; expected a poem");
  std::string word;
  open_input(path("poem"), "a poem") >> word;
  EXPECT_EQ(word, "x");
  EXPECT_TRUE(is_file(path("poem")));
  for (const char* other : {"none", "loop", "pipe", ""}) EXPECT_FALSE(is_file(path(other)));
}

/// Sets TMPDIR for as long as it lives.
struct Temporary {
  explicit Temporary(const std::string& folder) { setenv("TMPDIR", folder.c_str(), 1); }
  ~Temporary() { unsetenv("TMPDIR"); }
};

TEST_F(Files, FoldersOfKilledProcessesAreRemovedAndThoseOfOthersAreNot) {
  const Temporary here(folder_.string());
  const TemporaryFolder alive("raddle-test");
  // As a process has left it that was killed: nobody holds its lock.
  const fs::path dead = folder_ / "raddle-test-123-abcdef";
  fs::create_directories(dead / "inner");
  std::ofstream(dead / "inner" / "file") << "x";
  for (const char* other : {"raddle-test-abcdef", "raddle-test-12x-abcdef", "other-1-abcdef"})
    fs::create_directory(folder_ / other);
  for (const auto& entry : fs::directory_iterator(folder_))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  const TemporaryFolder next("raddle-test");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(alive.path()));
  EXPECT_EQ(entries(), 5u) << "two of ours and three of others";
}

TEST_F(Files, WithoutAFolderForTemporaryFilesTheVariableIsNamed) {
  const Temporary nowhere("/no/such/folder");
  try {
    const TemporaryFolder folder("raddle-test");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "there is no folder for temporary files: TMPDIR is /no/such/folder, which is none");
  }
}

}  // namespace
}  // namespace raddle::files_test
