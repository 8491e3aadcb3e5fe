// A decoded kernel: records and frame layouts of its functions, and the code that the timing model
// sees.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/exec/program.h"
#include "raddle/exec/record.h"

namespace raddle::exec {

/// A register that is written before a warp starts and never again: immediates, special registers,
/// kernel parameters.
struct Fill {
  enum class Kind : std::uint8_t { Value, Special, Parameter };
  Kind kind;
  std::uint8_t width;  ///< bytes of the register: 2, 4, 8
  std::uint32_t offset;
  std::uint64_t value;  ///< Value: the bits; Parameter: offset into the parameters
  ptx::Special special{};
  std::uint8_t bytes = 0;  ///< Parameter: bytes in memory
  bool is_signed = false;
};

/// Where a formal or actual parameter lies in a frame: as 4-byte words of 32 lanes, or as a
/// register.
struct ParameterPlace {
  std::uint32_t offset, bytes;
  bool is_register;
  std::uint32_t frame_bytes() const {
    return is_register ? (bytes == 8 ? 256 : 128) : (bytes + 3) / 4 * 128;
  }
};

struct CallSite {
  std::uint32_t callee = 0;  ///< function of the kernel; unused for an indirect call
  std::vector<ParameterPlace> arguments, returns;
};

enum class HostFunction : std::uint8_t { Vprintf, AssertFail };
struct HostCall {
  HostFunction function;
  std::vector<ParameterPlace> arguments, returns;
};

/// One function, decoded.
struct Code {
  const ptx::Function* source = nullptr;
  std::uint32_t module_index = 0;
  std::vector<Record> records;
  std::uint32_t first_instruction = 0;  ///< in the trace's code
  std::uint32_t frame_bytes = 0, local_bytes = 0, registers = 0;
  std::vector<Fill> fills;
  std::vector<ParameterPlace> parameters, returns;
  std::vector<CallSite> calls;
  std::vector<HostCall> host_calls;
  std::vector<std::vector<std::int32_t>> branch_tables;  ///< records from the brx to each target
};

class Kernel {
 public:
  std::string name;
  const ptx::Module* module = nullptr;
  DeviceMemory* memory = nullptr;
  std::vector<Code> functions;                    ///< the entry first
  std::vector<std::uint32_t> function_of_module;  ///< module index -> index above, or kNoIndex
  std::shared_ptr<const trace::KernelCode> code;
  std::vector<std::uint32_t> aliases;  ///< by instruction, see Context
  ParameterLayout parameters;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< per thread, all functions that may be active together
  bool recursive = false;
};

/// Addresses that instructions and initialisers may name. Shared ones are offsets into the block's
/// memory.
struct Layout {
  const ptx::Module* module = nullptr;
  std::vector<std::uint64_t> variables;  ///< by module variable
};
std::uint64_t function_address(std::uint32_t module_index);

/// Decodes an entry and what it calls. Throws InputError naming every unsupported instruction on
/// the way.
std::unique_ptr<Kernel> decode_kernel(const Layout& layout, std::uint32_t entry);
/// What decode_kernel would refuse in one function.
std::vector<Unsupported> refusals(const Layout& layout, std::uint32_t function);

}  // namespace raddle::exec
