// Registers of kernels, read from machine code: an ELF file made byte by byte, one that nvcc wrote,
// and against what ptxas says of what it makes.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/fatbin/cubin.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle_paths.h"
#include "support/errors.h"
#include "support/nvcc.h"
#include "support/process.h"
#include "unit/fatbin/builder.h"

namespace raddle::fatbin::cubin_test {
namespace {

using test::nvcc_output;
using testing::HasSubstr;
using Registers = std::map<std::string, std::uint32_t>;

/// Parts of an ELF file made byte by byte.
struct SmallCubin {
  Elf64_Ehdr header{};
  std::string names = std::string("\0.shstrtab\0.nv.info\0.symtab\0.strtab\0", 36);
  std::string symbol_names = std::string("\0_Z3addPf\0k\0", 12);
  std::vector<std::uint32_t> info = {0x00080000 | 0x2f04, 2, 72,  // sized, registers: of symbol 2
                                     0x00000000 | 0x0103,         // a record without more
                                     0x00080000 | 0x1104, 2, 99,  // sized, of something else
                                     0x00080000 | 0x2f04, 1, 255};

  SmallCubin() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_CUDA;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 5;
    header.e_shstrndx = 1;
  }
  std::string bytes() const {
    std::string out, sections;
    put(out, 0, header);
    const auto section = [&](std::string_view name, const std::string& content, Elf64_Word link) {
      Elf64_Shdr s{};
      const std::size_t at = names.find(name);
      s.sh_name = at == std::string::npos ? 0 : static_cast<Elf64_Word>(at);
      s.sh_link = link;
      s.sh_offset = out.size();
      s.sh_size = content.size();
      out += content;
      put(sections, sections.size(), s);
    };
    std::string records, symbols(3 * sizeof(Elf64_Sym), '\0');
    for (const std::uint32_t word : info) put(records, records.size(), word);
    for (const Elf64_Word of : {1u, 2u}) {
      Elf64_Sym symbol{};
      symbol.st_name = of == 1 ? 10 : 1;
      put(symbols, of * sizeof symbol, symbol);
    }
    section(std::string_view("\0", 1), "", 0);
    section(".shstrtab", names, 0);
    section(".nv.info", records, 0);
    section(".symtab", symbols, 4);
    section(".strtab", symbol_names, 0);
    const Elf64_Off at = header.e_shoff == 0 ? out.size() : header.e_shoff;
    put(out, offsetof(Elf64_Ehdr, e_shoff), at);
    return out + sections;
  }
};

TEST(Cubin, RegistersStandInItsInfo) {
  EXPECT_EQ(registers_of(SmallCubin().bytes(), "k"), (Registers{{"_Z3addPf", 72}, {"k", 255}}));
}

TEST(Cubin, WithoutInfoNothingIsKnown) {
  SmallCubin cubin;
  cubin.names[cubin.names.find("info")] = 'I';
  EXPECT_EQ(registers_of(cubin.bytes(), "k"), Registers{});
}

TEST(Cubin, AnyCutOfItIsRefused) {
  const std::string whole = SmallCubin().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(test::input_error_of([&] { registers_of(whole.substr(0, size), "app"); }),
                HasSubstr("app"))
        << size;
}

TEST(Cubin, WhatIsWrongIsTold) {
  const auto notified = [](auto&& change) {
    SmallCubin cubin;
    change(cubin);
    return test::input_error_of([&] { registers_of(cubin.bytes(), "app"); });
  };
  using C = SmallCubin;
  EXPECT_EQ(notified([](C&) {}), "no error");
  EXPECT_THAT(notified([](C& c) { c.header.e_machine = EM_X86_64; }), HasSubstr("no cubin"));
  EXPECT_THAT(notified([](C& c) { c.header.e_shstrndx = 5; }), HasSubstr("section 5 of 5"));
  EXPECT_THAT(notified([](C& c) { c.header.e_shentsize = 40; }), HasSubstr("40 bytes"));
  EXPECT_THAT(notified([](C& c) { c.header.e_shoff = ~Elf64_Off{0} - 8; }),
              HasSubstr("ends within"));
  EXPECT_THAT(notified([](C& c) { c.names.clear(); }), HasSubstr("has no end"));
  EXPECT_THAT(notified([](C& c) { c.symbol_names.back() = 'x'; }), HasSubstr("has no end"));
  EXPECT_THAT(notified([](C& c) { c.info[1] = 3; }), HasSubstr("its symbols"));
  EXPECT_THAT(notified([](C& c) { c.info[2] = 256; }), HasSubstr("256 registers"));
  EXPECT_THAT(notified([](C& c) { c.info[0] = 0x0004'2f04; }), HasSubstr("a count of registers"));
  EXPECT_THAT(notified([](C& c) { c.info[7] = 0x0010'2f04; }), HasSubstr("a record"));
}

TEST(Cubin, OneThatNvccWrote) {
  const auto path = std::filesystem::path(RADDLE_SOURCE_DIR) / "tests/data/fatbin/cubin.fatbin";
  const std::string bytes = test::read_file(path);
  const auto entries = read(view(bytes), "cubin.fatbin");
  ASSERT_EQ(entries.size(), 2u);
  const Entry& cubin = entries[entries[0].kind == Kind::Cubin ? 0 : 1];
  ASSERT_EQ(cubin.kind, Kind::Cubin);
  EXPECT_EQ(cubin.sm, 75u);
  EXPECT_EQ(registers_of(cubin.text(), "cubin"), (Registers{{"_Z5twicePi", 8}}));
}

TEST(Cubin, RegistersAreThoseThatPtxasTells) {
  RADDLE_NEED_NVCC();
  const std::string source =
      "template <int N> __global__ void loops(float* a, const float* b, int n) {\n"
      "  float s[N], t = 0;\n"
      "  for (int k = 0; k < N; k++) s[k] = b[k * n + threadIdx.x];\n"
      "  for (int j = 0; j < 100; j++) for (int k = 0; k < N; k++) s[k] = s[k] * s[(k + 1) % N] + "
      "1;\n"
      "  for (int k = 0; k < N; k++) t += s[k];\n"
      "  a[threadIdx.x] = t;\n}\n"
      "template __global__ void loops<8>(float*, const float*, int);\n"
      "template __global__ void loops<60>(float*, const float*, int);\n";
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
    std::string notified;
    const std::string cubin =
        nvcc_output(source, std::string("-cubin -Xptxas -v -arch=") + arch, &notified);
    const Registers expected = test::ptxas_registers(notified, arch);
    EXPECT_EQ(expected.size(), 2u) << notified;
    EXPECT_EQ(registers_of(cubin, "cubin"), expected) << arch;
  }
}

}  // namespace
}  // namespace raddle::fatbin::cubin_test
