// raddle exec of the test program (tests/cuda/app), and of what nvcc makes.
#pragma once
#include <gtest/gtest.h>

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

/// The program checks itself: it says PASS and ends well, without timing and with it.
inline void expect_pass(const std::string& program, const std::string& gpu) {
  for (const char* how : {"--functional", "--quiet"}) {
    const Outcome o = exec({"--gpu", gpu, "--quiet", how}, {program});
    EXPECT_EQ(o.status, 0) << o.out << o.err;
    EXPECT_NE(o.out.find("PASS"), std::string::npos) << o.out;
  }
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
