// CUDA programs of this folder, compiled by nvcc as a user would and run on the functional machine.
// Each test runs for two architectures and as a debug build; without nvcc it is skipped.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle_paths.h"
#include "support/exec_rig.h"

namespace raddle::exec::test {

struct Build {
  const char* name;
  const char* options;
};
inline constexpr std::array kBuilds = {Build{"sm_75", "-arch=compute_75"},
                                       Build{"sm_90", "-arch=compute_90"},
                                       Build{"debug", "-arch=compute_75 -G"}};

/// The first nvcc of $RADDLE_NVCC, the usual place, $PATH; empty without one.
inline std::string nvcc() {
  if (const char* given = std::getenv("RADDLE_NVCC")) return given;
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  if (std::filesystem::exists(usual)) return usual;
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (std::filesystem::exists(folder + "/nvcc")) return folder + "/nvcc";
  return {};
}

inline std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// PTX of tests/nvcc/<name>.cu. Every test is a process of its own under ctest, so it is kept under
/// a hash of what it was made of.
inline std::string compiled(const std::string& name, const Build& build) {
  namespace fs = std::filesystem;
  const fs::path source = fs::path(RADDLE_SOURCE_DIR) / "tests/nvcc" / (name + ".cu");
  const fs::path folder = fs::temp_directory_path() / ("raddle-nvcc-" + std::to_string(getuid()));
  fs::create_directories(folder);
  const std::size_t hash = std::hash<std::string>{}(nvcc() + build.options + contents(source));
  const fs::path kept = folder / (name + "-" + build.name + "-" + std::to_string(hash) + ".ptx");
  if (!fs::exists(kept)) {
    const fs::path fresh = kept.string() + "." + std::to_string(getpid());
    const std::string command = nvcc() + " -std=c++17 " + build.options + " -ptx " +
                                source.string() + " -o " + fresh.string() + " 2>&1";
    if (std::system(command.c_str()) != 0) throw InputError("nvcc failed: " + command);
    fs::rename(fresh, kept);
  }
  return contents(kept);
}

/// A GPU with the program loaded.
class Gpu : public Rig {
 public:
  Gpu(const std::string& name, const Build& build, MachineOptions options = {})
      : Rig(ptx::parse(compiled(name, build), name + ".ptx"), std::move(options)) {}
};

class OfEachBuild : public testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    if (nvcc().empty()) GTEST_SKIP() << "nvcc is not installed";
  }
};
inline void PrintTo(const Build& build, std::ostream* out) { *out << build.name; }
inline std::string build_name(const testing::TestParamInfo<Build>& info) { return info.param.name; }

}  // namespace raddle::exec::test
