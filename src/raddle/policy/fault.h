// What a machine does with an answer of a policy that cannot be: the policy is the user's code, so
// it is told as an error of the run and not as one of Raddle.
#pragma once
#include <string>

#include "raddle/base/error.h"

namespace raddle::policy {

/// `name`: "warp=youngest", or the level where the machine knows no more; `right`: "picks a warp
/// that is ready".
[[noreturn]] inline void wrong_answer(const std::string& name, const std::string& right) {
  throw RunError("policy '" + name + "' answers wrongly: expected that it " + right);
}

}  // namespace raddle::policy
