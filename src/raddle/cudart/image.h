// From the pointer that a program registers to the PTX of a module.
#pragma once
#include <string>
#include <string_view>
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

/// Likewise of what the driver interface is given with its length, as a file is: a fat binary, PTX
/// text, or what linked_image() has made.
Image image_of_bytes(std::string_view bytes, const sim::SeenByProgram& seen,
                     const std::string& what);
/// ... or without: such a wrapper as well; PTX ends with a NUL, the others say how long they are
/// and are trusted.
Image image_of_data(const void* data, const sim::SeenByProgram& seen, const std::string& what);
/// The texts as one image, to be linked when it is loaded.
std::string linked_image(const std::vector<ptx::SourceText>& sources);

}  // namespace raddle::cudart
