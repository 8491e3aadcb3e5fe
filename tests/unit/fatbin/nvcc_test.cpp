// Containers that nvcc makes while the test runs, in every way of storing PTX it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/fatbin/fatbin.h"
#include "support/nvcc.h"
#include "unit/fatbin/builder.h"

namespace raddle::fatbin::nvcc_test {
namespace {

using test::nvcc_output;
using testing::HasSubstr;

constexpr const char* kSource =
    "__global__ void twice(int* p) { p[threadIdx.x] *= 2; }\n"
    "__global__ void thrice(int* p) { p[threadIdx.x] *= 3; }\n";

struct Way {
  const char* name;
  const char* options;
  Compression ptx;
};

/// Without comments, line by line, and white space.
std::string squeezed(const std::string& ptx) {
  std::istringstream in(ptx);
  std::string out;
  for (std::string line; std::getline(in, line);) out += line.substr(0, line.find("//"));
  std::erase_if(out, [](char c) { return c == '\t' || c == ' '; });
  return out;
}

class Nvcc : public testing::TestWithParam<Way> {};

TEST_P(Nvcc, TextIsThatOfItsPtxOutput) {
  RADDLE_NEED_NVCC();
  const std::string bytes =
      nvcc_output(kSource, std::string("-fatbin -arch=sm_75 ") + GetParam().options);
  const auto entries = read(view(bytes), "program");
  const Choice choice = choose(entries, 75);
  ASSERT_TRUE(choice.entry);
  const Entry& entry = entries[*choice.entry];
  EXPECT_EQ(entry.compression, GetParam().ptx);
  EXPECT_EQ(entry.target(), "compute_75");
  EXPECT_EQ(entry.version_major, 9u);
  const std::string text = entry.text();
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_THAT(text, HasSubstr(".visible .entry _Z5twicePi("));
  // Its comments are blanked in the container; everything else is what -ptx writes.
  if (std::string(GetParam().options).find("-G") == std::string::npos) {
    EXPECT_EQ(squeezed(text), squeezed(nvcc_output(kSource, "-ptx -arch=compute_75")));
  }
  for (const Entry& one : entries)
    if (one.kind == Kind::Cubin) {
      EXPECT_THAT(one.text(), HasSubstr("ELF"));
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, Nvcc,
                         testing::Values(Way{"Default", "", Compression::Zstd},
                                         Way{"Speed", "-compress-mode=speed", Compression::Lz4},
                                         Way{"Size", "-compress-mode=size", Compression::Zstd},
                                         Way{"None", "-compress-mode=none", Compression::None},
                                         Way{"All", "-Xfatbin -compress-all", Compression::Zstd},
                                         Way{"Debug", "-G", Compression::Zstd}),
                         [](const auto& info) { return info.param.name; });

TEST(NvccEntries, OptionsNamesVariantsAndTargets) {
  RADDLE_NEED_NVCC();
  const std::string bytes = nvcc_output(
      kSource,
      "-fatbin -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=sm_80 "
      "-gencode arch=compute_90a,code=compute_90a -maxrregcount=32 -lineinfo");
  const auto entries = read(view(bytes), "program");
  std::vector<std::string> targets;
  for (const Entry& entry : entries) targets.push_back(entry.target());
  std::ranges::sort(targets);
  EXPECT_THAT(targets, testing::ElementsAre("compute_75", "compute_90a", "sm_80"));
  const Entry& ptx = entries[*choose(entries, 80).entry];
  EXPECT_EQ(ptx.target(), "compute_75");
  EXPECT_THAT(ptx.options, HasSubstr("-maxrregcount=32"));
  EXPECT_THAT(ptx.name, HasSubstr("program.cu"));
  EXPECT_EQ(entries[*choose(entries, 90).entry].target(), "compute_90a");
}

TEST(NvccEntries, MachineCodeOnlyIsToldSo) {
  RADDLE_NEED_NVCC();
  const std::string bytes = nvcc_output(kSource, "-fatbin -gencode arch=compute_80,code=sm_80");
  const Choice choice = choose(read(view(bytes), "program"), 80);
  EXPECT_FALSE(choice.entry);
  EXPECT_THAT(choice.note, HasSubstr("only sm_80: rebuild it with -gencode"));
}

TEST(NvccEntries, RelocatableOnes) {
  RADDLE_NEED_NVCC();
  const std::string bytes = nvcc_output(kSource, "-fatbin -rdc=true -arch=sm_80");
  const auto entries = read(view(bytes), "program");
  const Choice choice = choose(entries, 80);
  ASSERT_TRUE(choice.entry);
  EXPECT_TRUE(entries[*choice.entry].relocatable());
}

TEST(NvccEntries, EveryTruncationIsRefusedAndNoAlteredHeaderByteCrashes) {
  RADDLE_NEED_NVCC();
  const std::string bytes =
      nvcc_output(kSource, "-fatbin -rdc=true -gencode arch=compute_75,code=compute_75");
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THROW(read(view(bytes.substr(0, n)), "program"), InputError) << n;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string altered = bytes;
    altered[at] = static_cast<char>(altered[at] ^ 0x55);
    try {
      for (const Entry& entry : read(view(altered), "program")) entry.text();
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace raddle::fatbin::nvcc_test
