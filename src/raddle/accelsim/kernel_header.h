// The lines "-key = value" in front of a kernel's trace.
#pragma once
#include <cstdint>
#include <string>

#include "raddle/accelsim/instruction.h"
#include "raddle/accelsim/text.h"
#include "raddle/trace/stream.h"

namespace raddle::accelsim {

struct KernelHeader {
  std::string name;
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic
  std::uint32_t registers = 0;     ///< per thread
  std::uint64_t cuda_stream = 0;
  std::uint64_t shared_base = 0, local_base = 0;  ///< windows of generic addresses; 0: none
  std::uint32_t binary_version = 0;
  LineFormat format;
};

/// Reads up to and with the first line that begins with '#'. Throws InputError naming file and
/// line.
KernelHeader read_header(Text& text);

}  // namespace raddle::accelsim
