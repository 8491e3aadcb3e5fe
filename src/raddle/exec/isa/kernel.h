// A decoded kernel: records and frame layouts of its functions, and the code that the timing model
// sees.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/exec/device/device_runtime.h"
#include "raddle/exec/isa/kernel_source.h"
#include "raddle/exec/isa/parameter_layout.h"
#include "raddle/exec/isa/record.h"
#include "raddle/exec/isa/slow.h"

namespace raddle::exec {

/// A register that is written before a warp starts and never again: immediates, special registers,
/// kernel parameters.
struct Fill {
  enum class Kind : std::uint8_t { Value, Special, Parameter };
  Kind kind;
  std::uint8_t width;  ///< bytes of the register: 2, 4, 8
  std::uint32_t offset;
  std::uint64_t value;     ///< Value: the bits; Parameter: offset into the parameters
  ptx::Special special{};  ///< Special: which; value: its number (%envreg3)
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

enum class ImageOp : std::uint8_t { Fetch, Gather, Query, Load, Store };
enum class ImageQuery : std::uint8_t {
  Width,
  Height,
  Depth,
  ArraySize,
  Normalized,
  Levels,
  Samples,
};
/// What a surface access outside the surface does.
enum class SurfaceClamp : std::uint8_t { Trap, Clamp, Zero };
/// A texture or surface instruction: tex, tld4, txq; suld, sust, suq.
struct ImageSite {
  ImageOp op = ImageOp::Fetch;
  bool surface = false;
  bool reference = false;  ///< the handle lies where `handle` points (a .texref or .surfref)
  unsigned dimensions = 1;
  bool layered = false, cube = false, float_coordinates = false;
  std::uint32_t handle = 0;                    ///< frame offset, 64 bits
  std::array<std::uint32_t, 4> coordinates{};  ///< 32 bits each: the layer first, then x, y, z
  std::array<std::uint32_t, 4> data{};
  unsigned elements = 0, element_bytes = 4, register_bytes = 4;
  unsigned component = 0;  ///< Gather
  ImageQuery query = ImageQuery::Width;
  SurfaceClamp clamp = SurfaceClamp::Trap;
  std::uint32_t resident = 0;  ///< predicate that is set to true; 0: none
};

/// Functions without a body here, and instructions of the local stack.
enum class HostFunction : std::uint8_t {
  Vprintf,
  AssertFail,
  Malloc,
  Free,
  StackAllocate,
  StackSave,
  StackRestore,
};
struct HostCall {
  HostFunction function;
  std::vector<ParameterPlace> arguments, returns;
};

/// A call of the device runtime (device_runtime.h).
struct DeviceCall {
  DeviceFunction function;
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
  std::vector<std::unique_ptr<const SlowInstruction>> slow;
  std::vector<ImageSite> images;
  std::vector<DeviceCall> device_calls;
  std::vector<std::vector<std::int32_t>> branch_tables;  ///< records from the brx to each target
};

class Kernel {
 public:
  std::string name;
  std::string title;  ///< the name for people (base/demangle.h)
  const ptx::Module* module = nullptr;
  DeviceMemory* memory = nullptr;
  KernelSource* program = nullptr;                ///< of which it is
  std::vector<Code> functions;                    ///< the entry first
  std::vector<std::uint32_t> function_of_module;  ///< module index -> index above, or kNoIndex
  std::shared_ptr<const trace::KernelCode> code;
  std::vector<std::uint32_t> aliases;  ///< by instruction, see Context; of a copy: its ends
  ParameterLayout parameters;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< per thread, all functions that may be active together
  bool recursive = false;         ///< or takes stack at run time: nothing says how much it needs
  /// Within one another, when none is recursive.
  std::uint32_t max_calls() const { return static_cast<std::uint32_t>(functions.size()); }
};

}  // namespace raddle::exec
