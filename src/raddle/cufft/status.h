// What calls return, and how they end early.
#pragma once
#include <string>

#include "raddle/cuda_library/device.h"
#include "raddle/cuda_library/guarded.h"

namespace raddle::cufft {

/// cufftResult.
enum Status : int {
  kSuccess = 0,
  kInvalidPlan = 1,
  kAllocFailed = 2,
  kInvalidType = 3,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6,
  kSetupFailed = 7,
  kInvalidSize = 8,
  kInvalidDevice = 11,
  kNoWorkspace = 13,
  kNotSupported = 16,
};

using Refusal = cuda_library::Refusal<Status>;

inline void require(bool condition, Status otherwise = kInvalidValue) {
  if (!condition) throw Refusal{otherwise};
}

/// Names it to the user and lets the run fail. Returns kNotSupported.
inline Status lacks(const std::string& what) {
  cuda_library::lacks(what, "CUFFT_NOT_SUPPORTED");
  return kNotSupported;
}

}  // namespace raddle::cufft
