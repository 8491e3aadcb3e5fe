// From the pointer that a program registers to the PTX of a module.
#pragma once
#include <string>
#include <vector>

#include "raddle/ptx/link.h"
#include "raddle/sim/setup/seen.h"

namespace raddle::cudart {

struct Image {
  std::vector<ptx::SourceText> sources;  ///< several where they are to be linked into one module
  /// Of kernels, by name: what the program's machine code says, whatever GPU it is for. What cannot
  /// be read of it is left out: nothing but the number of resident warps hangs on it.
  ptx::KernelRegisters registers;
};

/// `wrapper` as __cudaRegisterFatBinary is given it; `program` is for messages. Throws Failure when
/// there is no PTX that the machine can run, and InputError when the image cannot be read.
Image image_of(const void* wrapper, const sim::SeenByProgram& seen, const std::string& program);

}  // namespace raddle::cudart
