// raddle exec of the test program (tests/cuda/app), and of what nvcc makes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/process.h"

namespace raddle::test {

/// raddle exec with these options of program and arguments.
inline Outcome exec(std::vector<std::string> options, const std::vector<std::string>& command) {
  options.insert(options.begin(), "exec");
  options.emplace_back("--");
  options.insert(options.end(), command.begin(), command.end());
  return run_process(RADDLE_PROGRAM, options);
}

/// A scenario of the test program, without timing.
inline Outcome scenario(const std::string& name, std::vector<std::string> options = {}) {
  if (options.empty()) options = {"--functional", "--quiet"};
  return exec(std::move(options), {CUDA_APP, name});
}

inline nlohmann::json json_of(const std::string& file) {
  return nlohmann::json::parse(read_file(file));
}

}  // namespace raddle::test
