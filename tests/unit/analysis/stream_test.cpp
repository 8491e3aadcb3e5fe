// What was recorded comes back as it was, from memory or from the file; what goes wrong with the
// file is told.
#include "raddle/analysis/stream.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "raddle/base/error.h"
#include "unit/analysis/trace.h"

namespace raddle::analysis::stream_test {
namespace {

TEST(Recorder, KeepsWhatIdentifiesAnAccess) {
  Trace kept;
  kept.recorder().access({.at = 7,
                          .line = 0xfedcba98,
                          .inst = 0xabcdef,
                          .lanes = 0x80000001,
                          .sectors = 0x5a,
                          .keeps = 0,
                          .warp = 63,
                          .kernel = 255,
                          .kind = policy::L1Kind::Load,
                          .local = true,
                          .bypass = false,
                          .outcome = policy::L1Outcome::Miss});
  kept.recorder().access({.at = 9,
                          .line = 1,
                          .inst = 2,
                          .lanes = 3,
                          .sectors = 4,
                          .keeps = 8,
                          .warp = 5,
                          .kernel = 6,
                          .kind = policy::L1Kind::Store,
                          .local = false,
                          .bypass = true,
                          .outcome = policy::L1Outcome::Forwarded});
  kept.recorder().access({.at = 9, .line = 1, .kind = policy::L1Kind::Atomic});
  std::vector<Record> seen;
  std::vector<Cycle> when;
  kept.stream().each([&](const Record& record, Cycle at) {
    seen.push_back(record);
    when.push_back(at);
  });
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(when, (std::vector<Cycle>{7, 9, 9}));
  const Record &load = seen[0], &store = seen[1];
  EXPECT_EQ(load.kind(), Record::Kind::Load);
  EXPECT_EQ(load.line, 0xfedcba98u);
  EXPECT_EQ(load.lanes, 0x80000001u);
  EXPECT_EQ(load.inst, 0xabcdefu);
  EXPECT_EQ(load.sectors, 0x5au);
  EXPECT_EQ(load.warp, 63u);
  EXPECT_EQ(load.kernel, 255u);
  EXPECT_EQ(load.local, 1u);
  EXPECT_EQ(load.bypass, 0u);
  EXPECT_EQ(store.kind(), Record::Kind::Store);
  EXPECT_EQ(store.sectors, 8u) << "of a store, what stays";
  EXPECT_EQ(store.bypass, 1u);
  EXPECT_EQ(store.local, 0u);
  EXPECT_EQ(seen[2].kind(), Record::Kind::Atomic);
}

TEST(Recorder, AnAccessThatWasRefusedIsToldWhenItSucceeds) {
  Trace t;
  t.put({.line = 1, .kind = policy::L1Kind::Load, .outcome = policy::L1Outcome::Refused});
  EXPECT_EQ(t.stream().size(), 0u);
  t.put({.line = 1, .kind = policy::L1Kind::Load, .outcome = policy::L1Outcome::Miss});
  EXPECT_EQ(t.stream().size(), 1u);
}

TEST(Recorder, MarksANewSize) {
  SpillFile spill;
  Recorder recorder(spill);
  recorder.resized(10, 16, 64);
  recorder.stream().each([&](const Record& one, Cycle at) {
    EXPECT_EQ(one.kind(), Record::Kind::Resize);
    EXPECT_EQ(one.line, 16u);
    EXPECT_EQ(one.lanes, 64u);
    EXPECT_EQ(at, 10u);
  });
  EXPECT_EQ(recorder.stream().size(), 1u);
}

TEST(Recorder, MarksKernelsWarpsAndFlushes) {
  SpillFile spill;
  Recorder recorder(spill);
  const std::uint64_t late = (std::uint64_t{3} << 32) + 5;
  recorder.warp_started({0, 0, 100, 1, 4, 2});
  recorder.warp_started({0, 0, 100, 2, 5, 2});
  recorder.flushed(10);
  recorder.warp_started({10, late, 7, 0, 4, 2});
  std::vector<Record> r;
  recorder.stream().each([&](const Record& one, Cycle) { r.push_back(one); });
  using Kind = Record::Kind;
  std::vector<Kind> kinds;
  for (const Record& one : r) kinds.push_back(one.kind());
  EXPECT_EQ(kinds, (std::vector{Kind::KernelStart, Kind::WarpStart, Kind::WarpStart, Kind::Flush,
                                Kind::KernelStart, Kind::WarpStart}));
  EXPECT_EQ(r[0].wide(), 0u);
  EXPECT_EQ(r[0].kernel, 2u);
  EXPECT_EQ(r[1].lanes, 100u) << "block";
  EXPECT_EQ(r[2].line, 2u) << "warp of the block";
  EXPECT_EQ(r[2].warp, 5u) << "slot";
  EXPECT_EQ(r[4].wide(), late);
}

TEST(Recorder, LongSilenceCostsOneRecord) {
  SpillFile spill;
  Recorder recorder(spill);
  const std::vector<Cycle> times = {0, kMaxSince, 2 * kMaxSince + 1, std::uint64_t{1} << 40,
                                    (std::uint64_t{1} << 40) + 1};
  for (const Cycle at : times) recorder.flushed(at);
  std::vector<Cycle> seen;
  recorder.stream().each([&](const Record& r, Cycle at) {
    if (r.kind() == Record::Kind::Flush) seen.push_back(at);
  });
  EXPECT_EQ(seen, times);
  EXPECT_EQ(recorder.stream().size(), times.size() + 2);
}

Record numbered(std::uint64_t i) {
  Record r{};
  r.line = static_cast<std::uint32_t>(i * 2654435761u);
  r.lanes = static_cast<std::uint32_t>(i);
  return r;
}

TEST(Stream, ComesBackFromTheFileInOrder) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{Stream::kChunk},
                                std::uint64_t{3 * Stream::kChunk + 17}}) {
    SpillFile spill;
    Stream stream(spill);
    for (std::uint64_t i = 0; i < n; ++i) stream.push(numbered(i));
    EXPECT_EQ(stream.size(), n);
    std::uint64_t i = 0;
    stream.each([&](const Record& r, Cycle) {
      const Record expected = numbered(i++);
      ASSERT_EQ(std::memcmp(&r, &expected, sizeof r), 0) << i;
    });
    EXPECT_EQ(i, n);
    EXPECT_EQ(spill.size() != 0, n >= Stream::kChunk) << "a short stream touches no file";
    EXPECT_LE(spill.size(), n * sizeof(Record));
  }
}

TEST(Stream, SeveralShareAFileFromSeveralThreads) {
  SpillFile spill;
  constexpr unsigned kThreads = 4;
  std::vector<Stream> streams(kThreads, Stream(spill));
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 4 * Stream::kChunk; ++i) streams[t].push(numbered(i * (t + 1)));
    });
  for (std::thread& t : threads) t.join();
  for (unsigned t = 0; t < kThreads; ++t) {
    std::uint64_t i = 0;
    streams[t].each(
        [&](const Record& r, Cycle) { ASSERT_EQ(r.line, numbered(i++ * (t + 1)).line); });
  }
}

TEST(SpillFile, HasNoName) {
  const auto folder = std::filesystem::temp_directory_path() / "raddle_spill_test";
  std::filesystem::create_directories(folder);
  {
    SpillFile spill(folder.string());
    spill.write("abc", 3);
    EXPECT_TRUE(std::filesystem::is_empty(folder)) << "nothing is left behind, whatever happens";
  }
  std::filesystem::remove(folder);
}

TEST(SpillFile, AFolderThatIsNotThereIsNamed) {
  SpillFile spill("/proc/nowhere/at/all");
  EXPECT_EQ(spill.size(), 0u);
  try {
    spill.write("abc", 3);
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("/proc/nowhere/at/all"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("TMPDIR"), std::string::npos);
  }
}

// As a full disk does, a limit on file size stops the write in the middle.
TEST(SpillFile, AFullDiskIsTold) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1 << 16;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  SpillFile spill;
  const std::vector<char> much(1 << 20, 'x');
  EXPECT_THROW(spill.write(much.data(), much.size()), RunError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace raddle::analysis::stream_test
