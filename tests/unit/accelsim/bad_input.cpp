// Every kind of damage gives one error that names file and line.
#include <lzma.h>
#include <zstd.h>

#include "unit/accelsim/trace_files.h"

namespace raddle::accelsim::bad_input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kGood = {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1000 4 0 ",
                                        "0010 ffffffff 0 EXIT 0 0 0 "};
constexpr unsigned kFirstLine = 24;  ///< of the instructions in kernel_text()

class BadTrace : public TraceFiles {
 protected:
  void expect(const std::string& text, unsigned line, const std::string& words) {
    const std::string place =
        (folder() / "kernel-1.traceg").string() + ":" + std::to_string(line) + ": ";
    EXPECT_THAT(error_of(text), AllOf(StartsWith(place), HasSubstr(words))) << words;
  }
  /// The text of a sound kernel with one part replaced.
  static std::string with(const std::string& part, const std::string& other) {
    std::string text = kernel_text(kGood);
    const std::size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), other);
  }
};

TEST_F(BadTrace, TheSoundOneIsSound) { EXPECT_EQ(error_of(kernel_text(kGood)), "no error"); }

TEST_F(BadTrace, Headers) {
  expect(with("-grid dim = (1,1,1)", "-grid dim = 1,1,1"), 3, "'grid dim': expected (x,y,z)");
  expect(with("-grid dim = (1,1,1)", "-grid dim = (1,0,1)"), 3, "none of them 0");
  expect(with("-block dim = (32,1,1)", "-block dim = (32,33,1)"), 15, "1056 threads");
  expect(with("-grid dim = (1,1,1)", "-grid dim = (65536,65536,1)"), 15, "4294967295 blocks");
  expect(with("-nregs = 32", "-nregs = 21955"), 6, "a number of 0 to 255, found '21955'");
  expect(with("-binary version = 80", "-binary version = 61"), 7, "no opcode table");
  expect(with("-shmem = 64", "-shmem = -1"), 5, "'shmem'");
  expect(with("-kernel id = 1", "-kernel id = x"), 2, "'kernel id': expected a number");
  expect(with("tracer version = 5", "tracer version = 9"), 12, "a number of 0 to 6, found '9'");
  expect(with("-block dim = (32,1,1)", "-block dim = (31,1,1)"), kFirstLine,
         "only lanes of the block's 31 threads");
  expect(with("-nregs = 32\n", ""), 14, "the header has no 'nregs'");
  expect(with("-nregs = 32", "-shmem = 3"), 6, "'shmem' twice");
  expect(with("-nregs = 32", "nregs = 32"), 6, "expected '-key = value' or");
  expect(with("-nregs = 32", "-nregs 32"), 6, "expected '-key = value'");
  expect(header_text().substr(0, 98), 6, "the file ends in its header");
}

TEST_F(BadTrace, Blocks) {
  const std::string one = block_text(0, warp_text(0, kGood));
  expect(with("#BEGIN_TB", "#BEGIN"), 18, "expected '#BEGIN_TB', found '#BEGIN'");
  expect(with("thread block = 0,0,0", "thread block = 1,0,0"), 20, "a block inside the grid");
  expect(with("thread block = 0,0,0", "thread block = 0,0"), 20, "'thread block = x,y,z'");
  expect(with("warp = 0", "warp = 1"), 22, "'warp = 0' of 1");
  expect(with("insts = 2", "insts = 0"), 23, "a warp without instructions");
  expect(with("insts = 2", "insts = x"), 23, "expected a number, found 'x'");
  expect(with("insts = 2", "insts = 3"), 27, "has 2 instructions, not the 3 it announces");
  expect(with("insts = 2", "insts = 1"), 25, "expected '#END_TB' after the block's 1 warps");
  expect(with("#END_TB", "#END"), 27, "expected '#END_TB'");
  expect(header_text() + one + one, 31, "thread block 0 is there twice");
  expect(header_text(1, 2) + one, 27, "after 1 of the grid's 2 thread blocks");
  expect(header_text(2) + one, 27, "expected 'warp = ...', found '#END_TB'");
  const std::string text = kernel_text(kGood);
  expect(text.substr(0, text.find("#END_TB")), 26, "the file ends where '#END_TB' is expected");
  expect(header_text(1, 3) + block_text(0, warp_text(0, kGood)) +
             block_text(2, warp_text(0, kGood)) + block_text(0, warp_text(0, kGood)),
         49, "thread block 0 is there twice");
}

TEST_F(BadTrace, Instructions) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"xyz ffffffff 0 EXIT 0 0 0", "begins with its address"},
      {"0000 fffffffff 0 EXIT 0 0 0", "a lane mask of 8 digits"},
      {"0000 fffffff 0 EXIT 0 0 0", "a lane mask of 8 digits"},
      {"0000 ffffffff", "the instruction's lane mask"},
      {"0000 ffffffff 99 EXIT 0 0 0", "number of destination registers"},
      {"0000 ffffffff x EXIT 0 0 0", "number of destination registers, found 'x'"},
      {"0000 ffffffff 1 X4 MOV 0 0 0", "a register R0 to R255, found 'X4'"},
      {"0000 ffffffff 1 R256 MOV 0 0 0", "a register R0 to R255"},
      {"0000 ffffffff 0 4MOV 0 0 0", "an opcode, found '4MOV'"},
      {"0000 ffffffff 0 MOV", "number of source registers, found the end"},
      {"0000 ffffffff 0 MOV 0", "width of the memory operand"},
      {"0000 ffffffff 0 MOV 0 -1 0", "a width of 0, or a power of two up to 1024"},
      {"0000 ffffffff 1 R4 LDG.E 1 R2 3 1 0x10 4 0", "a width of 0, or a power of two"},
      {"0000 ffffffff 0 MOV 0 2048 0", "a width of 0, or a power of two"},
      {"0000 ffffffff 0 MOV 0 0 zz", "the immediate, found 'zz'"},
      {"0000 ffffffff 0 MOV 0 0 0 7", "expected the end of the line, found '7'"},
      {"0000 ffffffff 1 R4 LDG.E 1 R2 4", "an address mode 0, 1 or 2, found the end"},
      {"0000 ffffffff 1 R4 LDG.E 1 R2 4 3 0x10 0", "an address mode 0, 1 or 2, found '3'"},
      {"0000 ffffffff 1 R4 LDG.E 1 R2 4 0 0x10 0x20", "an address of each lane"},
      {"0000 00000005 1 R4 LDG.E 1 R2 4 1 0x10 4 0", "lanes in one run"},
      {"0000 00000007 1 R4 LDG.E 1 R2 4 2 0x10 4 q", "an address difference"},
      {"0000 00000001 1 R4 LDL 1 R2 4 0 0x7f5801000000 0", "beyond the window of 16 MiB"},
      {"0000 00000001 1 R4 LDG.E 1 R2 4 0 0x2000000000000 0", "49 bits, found '0x2000000000000'"},
      {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x1ffffffffff80 99999999999 0", "of 49 bits"},
      {"0000 00000003 1 R4 LDG.E 1 R2 4 1 0x10 -32 0", "of 49 bits"},
      {"0000 00000003 1 R4 LDG.E 1 R2 4 2 0x10 -32 0", "of 49 bits"},
      {"0000 00000001 1 R4 LDG.E 1 R2 4 1 zz 0 0", "a base address, found 'zz'"},
  };
  for (const auto& [line, words] : lines) expect(kernel_text({line}), kFirstLine, words);
}

TEST_F(BadTrace, Lists) {
  auto error = [&](const std::string& text) {
    const std::string list = file("kernelslist.g", text);
    return test::input_error_of([&] { const TraceRecording recording(list); });
  };
  file("kernel-1.traceg", kernel_text(kGood));
  file("kernel-1.tracez", "");
  file("kernel-1.trace", "");
  const std::string list = (folder() / "kernelslist.g").string();
  EXPECT_THAT(error("kernel-9.traceg\n"),
              AllOf(StartsWith(list + ":1: "), HasSubstr("No such file")));
  EXPECT_THAT(error("\nMemcpyHtoD,0x10\nkernel-1.traceg\n"),
              AllOf(StartsWith(list + ":2: "), HasSubstr("MemcpyHtoD,0xADDRESS,BYTES")));
  EXPECT_THAT(error("MemcpyHtoD,0xzz,4\n"), HasSubstr("MemcpyHtoD,0xADDRESS,BYTES"));
  EXPECT_THAT(error("MemcpyHtoD,0x10,4,5\n"), HasSubstr("MemcpyHtoD,0xADDRESS,BYTES"));
  EXPECT_THAT(error("kernel-1.tracez\n"), HasSubstr("is no .tracez: a kernel's header"));
  EXPECT_THAT(error("kernel-1.trace\n"), HasSubstr("raw trace"));
  EXPECT_THAT(error("MemcpyHtoD,0x10,4\n"), HasSubstr("no line names a kernel"));
  EXPECT_THAT(test::input_error_of([] { const TraceRecording r("/proc/nowhere/kernelslist.g"); }),
              HasSubstr("/proc/nowhere/kernelslist.g: cannot be read: No such file"));
}

// --- compressed files

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t at = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &at, out.size()),
            LZMA_OK);
  out.resize(at);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class Packed : public TraceFiles, public testing::WithParamInterface<bool> {
 protected:
  static std::string pack(const std::string& text) { return GetParam() ? xz(text) : zstd(text); }
  std::string error_of_packed(const std::string& bytes) {
    file("kernel-1.traceg.xz", bytes);
    const std::string list = file("kernelslist.g", "kernel-1.traceg.xz\n");
    return test::input_error_of([&] { TraceRecording(list).launch(0); });
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, Packed, testing::Bool(),
                         [](const auto& i) { return i.param ? "xz" : "zstd"; });

std::string long_kernel() {
  std::string blocks;
  for (unsigned b = 0; b < 2000; ++b) blocks += block_text(b, warp_text(0, kGood));
  return header_text(1, 2000) + blocks;
}

TEST_P(Packed, IsReadAsThePlainTextIs) {
  const std::string text = long_kernel();
  EXPECT_EQ(error_of_packed(pack(text)), "no error");
  EXPECT_EQ(error_of_packed(pack(text.substr(0, 70000)) + pack(text.substr(70000))), "no error")
      << "files one behind the other";
  const std::string list = (folder() / "kernelslist.g").string();
  const TraceRecording packed(list);
  EXPECT_EQ(packed.launch(0).warp_instructions, 4000u);
  const TraceRecording plain(trace(text));
  plain.launch(0);
  EXPECT_EQ(packed.trailer().at("input_hash"), plain.trailer().at("input_hash"))
      << "the hash is that of the text";
}

TEST_P(Packed, DamageIsTold) {
  const std::string bytes = pack(long_kernel());
  EXPECT_THAT(error_of_packed(bytes.substr(0, bytes.size() / 2)), HasSubstr("ends early"));
  std::string altered = bytes;
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8; ++i) altered[i] ^= 0x55;
  EXPECT_THAT(error_of_packed(altered), StartsWith((folder() / "kernel-1.traceg.xz:").string()));
}

TEST_F(BadTrace, TheLastLineNeedsNoEnd) {
  std::string text = kernel_text(kGood);
  while (text.back() == '\n') text.pop_back();
  EXPECT_EQ(error_of(text), "no error");
  std::string dos;
  for (const char c : kernel_text(kGood))
    dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(error_of(dos), "no error");
}

TEST_F(BadTrace, ALineWithoutEndIsNoTrace) {
  expect(kernel_text(kGood) + std::string(3 << 20, 'x'), 28, "a line beyond 1 MiB");
}

}  // namespace
}  // namespace raddle::accelsim::bad_input_test
