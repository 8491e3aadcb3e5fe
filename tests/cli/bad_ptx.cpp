// raddle ptx on good and bad files: what it tells, where it points, that it ends soon.
#include "cli/raddle.h"
#include "raddle/base/rng.h"
#include "raddle_paths.h"

namespace raddle::test::bad_ptx_test {
namespace {

const std::string kWorkloads = RADDLE_SOURCE_DIR "/workloads/";
constexpr std::chrono::seconds kSoon(30);
constexpr std::size_t kHundredMegabytes = 100'000'000;

const std::string kHead = ".version 7.2\n.target sm_70\n.address_size 64\n";

std::string kernel(const std::string& body) {
  return kHead + ".visible .entry k() {\n" + body + "}\n";
}

TEST(Ptx, DescribesEveryWorkload) {
  int described = 0;
  for (const auto& folder : std::filesystem::directory_iterator(kWorkloads)) {
    const std::string name = folder.path().filename(), file = folder.path() / "kernels.ptx";
    if (!std::filesystem::exists(file)) continue;
    ++described;
    const Outcome text = raddle("ptx", {file});
    EXPECT_EQ(text.status, 0) << name << ": " << text.out << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("kernel "), HasSubstr("registers"), HasSubstr("shared")))
        << name;
  }
  EXPECT_GE(described, 16);
}

TEST(Ptx, JsonHoldsKernelsRegistersSharedMemoryAndMix) {
  const Json module = json_of(raddle("ptx --json", {kWorkloads + "transpose/kernels.ptx"}));
  ASSERT_FALSE(module["kernels"].empty());
  bool shared = false;
  for (const Json& k : module["kernels"]) {
    EXPECT_GT(k["registers"], 0);
    EXPECT_GT(k["instructions"], 0);
    std::uint64_t mix = 0;
    for (const auto& [opcode, count] : k["mix"].items()) mix += count.get<std::uint64_t>();
    EXPECT_EQ(mix, k["instructions"].get<std::uint64_t>());
    shared |= k["shared_bytes"] > 0;
  }
  EXPECT_TRUE(shared) << "a transpose kernel uses a tile in shared memory";
  EXPECT_EQ(module["unsupported"], Json::array());
}

// The tiles of nw's kernels lie outside of them in the file: each counts those that it names.
TEST(Ptx, SharedMemoryDeclaredOutsideAKernelCountsWhereItIsUsed) {
  const Json module = json_of(raddle("ptx --json", {kWorkloads + "nw/kernels.ptx"}));
  std::map<std::string, int> bytes;
  for (const Json& k : module["kernels"]) bytes[k["name"]] = k["shared_bytes"];
  EXPECT_EQ(bytes, (std::map<std::string, int>{{"nw_diagonal_16", 4 * (16 * 16 + 17 * 17)},
                                               {"nw_diagonal_8", 4 * (8 * 8 + 9 * 9)}}));
}

TEST(Ptx, UnsupportedInstructionIsNamedWithItsLine) {
  const Folder folder;
  const std::string file = folder.write("tcgen05.ptx", kHead +
                                                           ".visible .entry k() {\n"
                                                           "  .reg .b32 %r<9>;\n  mov.u32 %r1, 0;\n"
                                                           "  tcgen05.wait::ld.sync.aligned;\n"
                                                           "  ret;\n}\n");
  const Outcome run = raddle("ptx", {file});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("raddle: "), HasSubstr("tcgen05.ptx:7:3"),
                             HasSubstr("tcgen05.wait")));
  EXPECT_THAT(run.out, Not(HasSubstr("cannot be executed")));
  expect_refused(raddle("run", {file, "kernel=k"}), {"tcgen05.ptx:7", "tcgen05.wait"});
}

TEST(Ptx, UnknownInstructionIsNamedWithLineAndColumn) {
  const Folder folder;
  const std::string body = "  .reg .b32 %r<3>;\n  frobnicate.u32 %r1, %r2;\n  ret;\n";
  const Outcome run = raddle("ptx", {folder.write("a.ptx", kernel(body))});
  EXPECT_NE(run.status, 0);
  EXPECT_THAT(run.out + run.err, AllOf(HasSubstr("a.ptx:6:3"), HasSubstr("frobnicate")));
}

TEST(Ptx, WhatDoesNotExistIsRefusedWithItsLine) {
  const Folder folder;
  expect_refused(raddle("ptx", {folder.write("b.ptx", kernel("  mov.u32 %r1, 0;\n  ret;\n"))}),
                 {"b.ptx:5:", "%r1"});
  expect_refused(raddle("ptx", {folder.write("c.ptx", kernel("  bra NOWHERE;\n"))}),
                 {"c.ptx:5:", "NOWHERE"});
  expect_refused(raddle("ptx", {folder.write("d.ptx", ".version 3.1\n.target sm_20\n")}),
                 {"d.ptx:1", "3.1"});
}

TEST(Ptx, TruncatedFileIsRefusedWhereverItEnds) {
  const Folder folder;
  const std::string whole = read_file(kWorkloads + "bfs/kernels.ptx");
  const std::size_t last = whole.rfind('}');
  for (unsigned cut = 1; cut < 12; ++cut) {
    const std::string file = folder.write("cut.ptx", whole.substr(0, last * cut / 12));
    const Outcome run = raddle("ptx", {file}, kSoon);
    EXPECT_THAT(run.status, testing::AnyOf(0, 2)) << run.err;
    if (run.status == 2) expect_refused(run, {"cut.ptx:"});
  }
  expect_refused(raddle("ptx", {folder.write("cut.ptx", whole.substr(0, last))}), {"cut.ptx:"});
}

TEST(Ptx, EmptyFileIsRefused) {
  const Folder folder;
  expect_refused(raddle("ptx", {folder.write("empty.ptx", "")}), {"empty.ptx"});
  expect_refused(raddle("ptx", {folder.write("blank.ptx", "  \n// nothing\n")}), {"blank.ptx"});
  expect_refused(raddle("run", {folder.write("empty.ptx", ""), "kernel=k"}), {"empty.ptx"});
}

TEST(Ptx, BinaryFilesAreRefusedOnOneReadableLine) {
  const Folder folder;
  Rng random(1);
  for (unsigned i = 0; i < 20; ++i) {
    std::string bytes(1000, '\0');
    for (char& c : bytes) c = static_cast<char>(random.next());
    const Outcome run = raddle("ptx", {folder.write("random.ptx", bytes)});
    expect_refused(run, {"random.ptx:"});
    EXPECT_TRUE(std::ranges::all_of(run.err, [](char c) {
      return c == '\n' || (c >= ' ' && c <= '~');
    })) << run.err;
  }
  expect_refused(raddle("ptx", {RADDLE_PROGRAM}), {"raddle", "holds no PTX"});
  expect_refused(raddle("ptx", {folder.write("zeros.ptx", std::string(1000, '\0'))}),
                 {"zeros.ptx", "byte 0"});
}

TEST(Ptx, DeepNestingIsRefusedNotCrashed) {
  const Folder folder;
  const std::string blocks(200'000, '{'), brackets(200'000, '('), minus(200'000, '-');
  for (const std::string& body : {blocks, "  .reg .b32 %r<2>;\n  mov.u32 %r1, " + brackets,
                                  ".reg .b32 %r<2>;\n  mov.u32 %r1, " + minus})
    expect_refused(raddle("ptx", {folder.write("deep.ptx", kernel(body))}, kSoon), {"deep.ptx:"});
}

TEST(Ptx, AHundredMegabytesOfNoiseAreRefusedSoon) {
  const Folder folder;
  const Outcome word =
      raddle("ptx", {folder.write("big.ptx", std::string(kHundredMegabytes, 'a'))}, kSoon);
  expect_refused(word, {"big.ptx"});
  EXPECT_LT(word.err.size(), 2000u) << "the message must not repeat the file";
  const Outcome comment = raddle(
      "ptx", {folder.write("big.ptx", kHead + "/*" + std::string(kHundredMegabytes, '*'))}, kSoon);
  expect_refused(comment, {"big.ptx"});
}

TEST(Ptx, AHundredMegabytesOfInstructionsEndSoon) {
  const Folder folder;
  std::string body = "  .reg .b32 %r<3>;\n";
  const std::string line = "  add.s32 %r1, %r1, %r2;\n";
  while (body.size() < kHundredMegabytes) body += line;
  const Outcome run = raddle("ptx", {folder.write("big.ptx", kernel(body + "  ret;\n"))},
                             std::chrono::seconds(100));
  EXPECT_FALSE(run.timed_out);
  EXPECT_THAT(run.status, testing::AnyOf(0, 2)) << run.err;
  if (run.status == 2) expect_refused(run, {"big.ptx"});
}

}  // namespace
}  // namespace raddle::test::bad_ptx_test
