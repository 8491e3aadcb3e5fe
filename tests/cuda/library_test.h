// What tests of our libraries for CUDA programs share.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "cuda/built.h"
#include "cuda/exec.h"

namespace raddle::test {

/// Programs of tests/cuda/programs that check themselves, compiled with `options`.
class LibraryTest : public testing::Test {
 protected:
  explicit LibraryTest(std::string options) : options_(std::move(options)) {}
  std::string build(const std::string& name) const {
    return build_program(folder_, name, options_);
  }
  static void passes(const std::vector<std::string>& options,
                     const std::vector<std::string>& command) {
    const Outcome o = exec(options, command);
    EXPECT_EQ(o.status, 0) << options[1] << ": " << o.err << o.out;
    EXPECT_THAT(o.out, testing::HasSubstr("PASS"));
  }
  /// Names of the kernels that a run launched.
  static std::set<std::string> kernels_in(const std::string& file) {
    std::set<std::string> out;
    const auto result = json_of(file);
    for (const auto& kernel : result["kernels"]) out.insert(kernel["name"]);
    return out;
  }
  const Folder folder_;

 private:
  std::string options_;
};

}  // namespace raddle::test
