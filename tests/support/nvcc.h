// nvcc for tests that want real input: found at test time, never needed to build or to pass.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>

#include "support/process.h"

namespace raddle::test {

/// Path of nvcc ($RADDLE_NVCC, /usr/local/cuda, $PATH), "" where there is none.
inline std::string nvcc() {
  const char* named = std::getenv("RADDLE_NVCC");
  if (named != nullptr) return named;
  if (const char* usual = "/usr/local/cuda/bin/nvcc"; access(usual, X_OK) == 0) return usual;
  return std::system("command -v nvcc >/dev/null 2>&1") == 0 ? "nvcc" : "";
}

/// What nvcc writes into one file for `source` with these options ("-ptx", "-fatbin", ...).
/// Throws with nvcc's words when it does not take them; `told`, if any, gets them otherwise.
inline std::string nvcc_output(const std::string& source, const std::string& options,
                               std::string* notified = nullptr) {
  const Folder folder;
  folder.write("program.cu", source);
  const std::string command = "cd " + folder.path().string() + " && " + nvcc() + " " + options +
                              " -o output program.cu >log 2>&1";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(command + ": " + read_file(folder / "log"));
  if (notified != nullptr) *notified = read_file(folder / "log");
  return read_file(folder / "output");
}

/// Registers of a thread by kernel, as nvcc -Xptxas -v tells them of what it makes for `arch`.
inline std::map<std::string, std::uint32_t> ptxas_registers(const std::string& notified,
                                                            const std::string& arch) {
  static const std::regex kKernel(
      "Compiling entry function '(\\w+)' for '(\\w+)'[^$]*?Used (\\d+) registers");
  std::map<std::string, std::uint32_t> out;
  for (std::sregex_iterator at(notified.begin(), notified.end(), kKernel), end; at != end; ++at)
    if ((*at)[2] == arch) out[(*at)[1]] = static_cast<std::uint32_t>(std::stoul((*at)[3]));
  return out;
}

}  // namespace raddle::test

/// At the start of a test.
#define RADDLE_NEED_NVCC() \
  if (raddle::test::nvcc().empty()) GTEST_SKIP() << "no nvcc on this machine"
