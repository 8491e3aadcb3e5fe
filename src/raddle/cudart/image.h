// From the pointer that a program registers to the PTX of a module.
#pragma once
#include <string>
#include <vector>

#include "raddle/ptx/link.h"
#include "raddle/sim/setup.h"

namespace raddle::cudart {

/// `wrapper` as __cudaRegisterFatBinary is given it; `program` is for messages. Several where they
/// are to be linked into one module. Throws Failure when there is no PTX that the machine can run,
/// and InputError when the image cannot be read.
std::vector<ptx::SourceText> images_of(const void* wrapper, const sim::Setup& setup,
                                       const std::string& program);

}  // namespace raddle::cudart
