// Registers that machine code of kernels takes, as somebody knows them who has it.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace raddle::ptx {

/// Of a thread, by the compute capability (75) of the GPU that the machine code is for.
using RegistersByGpu = std::map<std::uint32_t, std::uint32_t>;
/// By kernel.
using KernelRegisters = std::map<std::string, RegistersByGpu>;

}  // namespace raddle::ptx
