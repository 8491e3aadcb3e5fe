// What a cubin, the machine code that nvcc makes for one GPU, says about its kernels.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace raddle::fatbin {

/// Registers that a thread of each kernel or function takes, by its mangled name. `cubin` is an ELF
/// file whose section ".nv.info" ptxas 13.0 fills with records {format, attribute, bytes behind
/// it}; that of attribute 0x2f holds a symbol's number and its registers. Throws InputError naming
/// `name` where it is no cubin, or a damaged one.
std::map<std::string, std::uint32_t> registers_of(std::string_view cubin, const std::string& name);

}  // namespace raddle::fatbin
