// Registers of called functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "raddle/ptx/module.h"

namespace raddle::exec {

/// 64-byte aligned bytes that stay where they are.
class AlignedBytes {
 public:
  /// Contents are lost when it grows.
  char* reserve(std::size_t bytes);
  char* data() const { return data_; }

 private:
  std::unique_ptr<char[]> storage_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A called function's registers, kept for the next call at the same depth.
struct Activation {
  std::uint32_t function = ptx::kNoIndex;
  AlignedBytes frame;
  std::size_t bytes = 0;
  bool prepared = false;  ///< constants of `function` are in place
};

}  // namespace raddle::exec
