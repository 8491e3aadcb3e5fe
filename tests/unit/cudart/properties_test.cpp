// cudaDeviceProp and attributes of a machine, in every layout.
#include "raddle/cudart/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "raddle/sim/setup/gpus.h"
#include "support/nvcc.h"

namespace raddle::cudart::properties_test {
namespace {

sim::SeenByProgram machine(const std::string& name) {
  return sim::seen_by_program(sim::read_setup(sim::load_gpu(name), policy::all_policies()));
}

template <class T>
T at(const std::vector<char>& bytes, std::size_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::vector<char> properties(const sim::SeenByProgram& setup, int version) {
  std::vector<char> out(properties_bytes(version), '?');
  write_properties(setup, version, out.data());
  return out;
}

TEST(Properties, SizesAreThoseOfTheHeaders) {
  EXPECT_EQ(properties_bytes(11), 728u);
  EXPECT_EQ(properties_bytes(12), 1032u);
  EXPECT_EQ(properties_bytes(13), 1008u);
}

TEST(Properties, SameValuesWhereverTheyLie) {
  const sim::SeenByProgram v100 = machine("v100");
  for (const int version : {11, 12, 13}) {
    const std::vector<char> p = properties(v100, version);
    EXPECT_STREQ(p.data(), "Raddle v100");
    EXPECT_EQ(at<std::size_t>(p, 288), std::size_t{16} << 30);  // totalGlobalMem
    EXPECT_EQ(at<std::size_t>(p, 296), 48u << 10);              // sharedMemPerBlock
    EXPECT_EQ(at<int>(p, 308), 32);                             // warpSize
    EXPECT_EQ(at<int>(p, 320), 1024);                           // maxThreadsPerBlock
    EXPECT_EQ(at<int>(p, 360), 7);                              // major
    EXPECT_EQ(at<int>(p, version < 13 ? 388 : 384), 80);        // multiProcessorCount
  }
  EXPECT_EQ(at<int>(properties(v100, 12), 348), 1132000);  // clockRate, kHz; not in 13
}

TEST(Properties, AttributesAreTheMachines) {
  const sim::SeenByProgram h200 = machine("h200");
  EXPECT_EQ(attribute(h200, 75), 9);
  EXPECT_EQ(attribute(h200, 76), 0);
  EXPECT_EQ(attribute(h200, 16), static_cast<int>(h200.machine.sm.count));
  EXPECT_EQ(attribute(h200, 39), 2048);
  EXPECT_EQ(attribute(h200, 97), static_cast<int>(h200.machine.sm.shared_kib - 1) * 1024);
  EXPECT_EQ(attribute(h200, 0), std::nullopt);
  EXPECT_EQ(attribute(h200, 148), std::nullopt);
  EXPECT_EQ(attribute(machine("gtx480"), 75), 2);
}

/// Every member that we write, at the offset that the toolkit's own header gives it.
TEST(Properties, LayoutIsTheToolkits) {
  RADDLE_NEED_NVCC();
  const test::Folder folder;
  const sim::SeenByProgram h100 = machine("h100");
  const std::vector<char> bytes = properties(h100, 13);
  std::ofstream(folder / "properties", std::ios::binary).write(bytes.data(), long(bytes.size()));
  folder.write("check.cu", R"(
#include <cstdio>
#include <cstring>
#define SAME(member, expected)                                                       \
  if ((long long)p.member != (long long)(expected)) {                                \
    std::printf(#member " is %lld, not %lld\n", (long long)p.member, (long long)(expected)); \
    bad = 1;                                                                         \
  }
int main(int, char** argv) {
  cudaDeviceProp p;
  std::FILE* f = std::fopen(argv[1], "rb");
  std::fseek(f, 0, SEEK_END);
  const long bytes = std::ftell(f);
  if (bytes != sizeof p) return std::printf("%ld bytes, not %zu\n", bytes, sizeof p), 1;
  std::rewind(f);
  if (std::fread(&p, sizeof p, 1, f) != 1) return 1;
  int bad = std::strcmp(p.name, "Raddle h100");
  SAME(totalGlobalMem, 80ll << 30) SAME(regsPerBlock, 65536) SAME(maxThreadsDim[2], 64)
  SAME(maxGridSize[0], 0x7fffffff) SAME(totalConstMem, 65536) SAME(major, 9) SAME(minor, 0)
  SAME(multiProcessorCount, 132) SAME(canMapHostMemory, 1) SAME(maxTexture2D[1], 65536)
  SAME(maxTexture3D[2], 16384) SAME(maxSurface3D[0], 16384) SAME(surfaceAlignment, 512)
  SAME(concurrentKernels, 1) SAME(asyncEngineCount, 2) SAME(unifiedAddressing, 1)
  SAME(maxThreadsPerMultiProcessor, 2048) SAME(streamPrioritiesSupported, 1)
  SAME(regsPerMultiprocessor, 65536) SAME(managedMemory, 1) SAME(concurrentManagedAccess, 1)
  SAME(cooperativeLaunch, 1) SAME(maxBlocksPerMultiProcessor, 32)
  SAME(reservedSharedMemPerBlock, 1024) SAME(hostRegisterSupported, 1)
  SAME(memoryPoolsSupported, 1) SAME(clusterLaunch, 0) SAME(reserved[55], 0)
  return bad;
})");
  const std::string program = folder / "check";
  ASSERT_EQ(std::system((test::nvcc() + " -o " + program + " " + (folder / "check.cu")).c_str()),
            0);
  const test::Outcome outcome = test::run_process(program, {folder / "properties"});
  EXPECT_EQ(outcome.status, 0) << outcome.out;
}

}  // namespace
}  // namespace raddle::cudart::properties_test
