// Several PTX modules into one, as the device linker does with the objects of nvcc -rdc=true.
#pragma once
#include <string>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// One module with the functions and variables of all. An .extern becomes the definition of its
/// name in another module; of several .weak definitions the first is taken, and a .visible one
/// before them; names that are neither are each module's own. Functions that nobody defines stay
/// .extern: the machine may know them (vprintf, the device runtime), and a kernel that calls
/// another is refused by name when it is decoded. NVIDIA's own device runtime (libcudadevrt) is
/// left out: the machine is the runtime. Throws InputError naming all symbols that are defined
/// twice, declared otherwise than defined, or (variables) missing, with file and line.
/// Precondition: not empty.
Module link(std::vector<Module> modules);

struct SourceText {
  std::string text, file;
};
/// parse() of each, then link() where there are several.
Module parse_and_link(std::vector<SourceText> sources);

/// The module is libcudadevrt's: it defines __cudaCDP2LaunchDeviceV2.
bool is_device_runtime(const Module& module);

}  // namespace raddle::ptx
