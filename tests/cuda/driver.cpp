// Programs that call the driver interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cuda/built.h"
#include "cuda/exec.h"
#include "support/nvcc.h"

namespace raddle::test::driver_test {
namespace {

using testing::HasSubstr;

std::string built(const Folder& folder, const std::string& name, const std::string& options = "") {
  return build_program(folder, name, "-lcuda " + options,
                       "-gencode arch=compute_75,code=compute_75");
}

TEST(Driver, EveryFamilyWorksFunctionalAndTimed) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "driver");
  expect_pass(program, "v100");
}

TEST(Driver, LibrariesOfTheRuntimeWorkFunctionalAndTimed) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "loaded_library");
  expect_pass(program, "v100");
  // What NVIDIA's compiler refuses is a fault of the program: the run itself is none.
  const Outcome wrong = exec({"--functional", "--quiet"}, {program, "wrong"});
  EXPECT_THAT(wrong.out, HasSubstr("PASS")) << wrong.err;
}

TEST(Driver, AKernelCompiledByNvrtcRuns) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const auto toolkit = std::filesystem::canonical(nvcc()).parent_path().parent_path();
  if (!std::filesystem::exists(toolkit / "lib64/libnvrtc.so")) GTEST_SKIP() << "no NVRTC here";
  const std::string program =
      built(folder, "nvrtc", "-lnvrtc -Xlinker -rpath=" + (toolkit / "lib64").string());
  expect_pass(program, "v100");
}

/// The kernel `twice`, as nvcc writes it with these options.
std::string module_file(const Folder& folder, const std::string& name, const std::string& options) {
  const std::string file = folder / name;
  const std::string command = nvcc() + " -arch=sm_80 " + options + " -o " + file +
                              " " RADDLE_SOURCE_DIR "/tests/cuda/programs/twice.cu";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return file;
}

TEST(Driver, ModulesOfEveryFormatWithPtxAreLoaded) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "driver_load");
  for (const std::string options : {"-ptx", "-fatbin", "-fatbin -no-compress"}) {
    const Outcome o = exec({"--functional", "--quiet"},
                           {program, "file", module_file(folder, "twice.module", options)});
    EXPECT_EQ(o.status, 0) << options << o.out << o.err;
    EXPECT_THAT(o.out, HasSubstr("PASS")) << options;
  }
  const Outcome machine_code = exec(
      {"--functional", "--quiet"}, {program, "file", module_file(folder, "twice.cubin", "-cubin")});
  EXPECT_EQ(machine_code.status, 1);
  EXPECT_THAT(machine_code.out, HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"));
  EXPECT_THAT(machine_code.err, HasSubstr("twice.cubin: machine code of a GPU"));
  const Outcome missing = exec({"--functional", "--quiet"}, {program, "file", "/proc/no/file"});
  EXPECT_THAT(missing.out, HasSubstr("CUDA_ERROR_FILE_NOT_FOUND"));
}

TEST(Driver, AFileThatIsNoWholeModuleIsRefused) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "driver_load");
  // Ends too early, or holds what only memory can: refused, not read beyond.
  const std::string whole = read_file(module_file(folder, "twice.module", "-fatbin"));
  const std::string wrapper = std::string("\xb1\x43\x62\x46\1\0\0\0", 8) + std::string(64, '\x7f');
  const std::string linked = std::string("\177RADDLE\0", 8) + std::string(16, '\x7f');
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), whole.substr(0, 12), wrapper, linked, std::string()}) {
    std::ofstream(folder / "wrong.module", std::ios::binary) << bytes;
    const Outcome wrong =
        exec({"--functional", "--quiet"}, {program, "file", folder / "wrong.module"});
    EXPECT_THAT(wrong.out, HasSubstr("CUDA_ERROR_INVALID_PTX")) << bytes.size() << wrong.err;
  }
}

TEST(Driver, WrongPtxIsToldInTheLog) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--functional", "--quiet"}, {built(folder, "driver_load"), "log"});
  EXPECT_THAT(o.out, HasSubstr("log: driver_load: a module of its own:21:3")) << o.out << o.err;
  EXPECT_THAT(o.err, HasSubstr("raddle: cuModuleLoadDataEx: driver_load: a module of its own"));
  // What a GPU refuses as well is no fault of the run, which launched nothing.
  EXPECT_THAT(o.err, HasSubstr("no kernel was launched"));
}

TEST(Driver, AFunctionThatNobodyDefinesIsToldWhenAModuleIsLoaded) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const std::string program = built(folder, "driver_load");
  const Outcome o = exec({"--functional", "--quiet"}, {program, "unresolved"});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(o.out, HasSubstr("log: driver_load: a module of its own:7: Unresolved extern "
                               "function 'helper'"));
  // The program's own kernels are judged when they are used.
  const Outcome lost = exec({"--functional", "--quiet"}, {program, "lost"});
  EXPECT_EQ(lost.status, 1) << lost.out << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("function nobody has no body here"));
}

TEST(Driver, WhatThereIsNotIsRefusedByName) {
  RADDLE_NEED_NVCC();
  const Folder folder;
  const Outcome o = exec({"--functional", "--quiet"}, {built(folder, "driver_load"), "lack"});
  EXPECT_EQ(o.status, 1) << o.out << o.err;
  EXPECT_THAT(o.err, HasSubstr("cuMemAddressReserve is not supported (CUDA_ERROR_NOT_SUPPORTED)"));
}

}  // namespace
}  // namespace raddle::test::driver_test
