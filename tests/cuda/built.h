// What nvcc makes of tests/cuda/programs.
#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "raddle_paths.h"
#include "support/nvcc.h"
#include "support/process.h"

namespace raddle::test {

/// Builds a program of tests/cuda/programs; returns its path.
inline std::string build_program(const Folder& folder, const std::string& name,
                                 const std::string& options = "",
                                 const std::string& arch = "-arch=sm_80") {
  const std::string program = folder / name;
  const std::string command = nvcc() + " -cudart shared " + arch + " " + options + " -o " +
                              program + " " RADDLE_SOURCE_DIR "/tests/cuda/programs/" + name +
                              ".cu >" + (folder / "log") + " 2>&1";
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(command + ": " + read_file(folder / "log"));
  return program;
}

}  // namespace raddle::test
