// An instruction that cannot be executed.
#pragma once
#include <string>

namespace raddle::exec {

/// Thrown within the decoder only.
struct Refusal {
  std::string why;
};

/// The instruction being decoded cannot be executed. `why`: what about it, where its text alone
/// does not say so.
[[noreturn]] void refuse(const std::string& why = "");

}  // namespace raddle::exec
