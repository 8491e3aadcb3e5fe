// Which instructions a machine executes: table [isa] of a machine file.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"

namespace raddle::lowering {

enum class Level : std::uint8_t {
  Ptx,      ///< PTX instructions as they are
  Machine,  ///< what an assembler makes of them
};
inline constexpr std::array<std::string_view, 2> kLevelNames = {"ptx", "machine"};

/// Whose machine instructions. Each row of the rules (rules.cpp) says for which it holds.
enum class Generation : std::uint8_t { Fermi, Kepler, Volta, Hopper };
inline constexpr unsigned kGenerations = 4;
inline constexpr std::array<std::string_view, kGenerations> kGenerationNames = {"fermi", "kepler",
                                                                                "volta", "hopper"};

/// Addresses of global memory, as code for the machine has them; PTX may have wider ones.
enum class AddressBits : std::uint8_t { Bits64, Bits32 };
inline constexpr std::array<std::string_view, 2> kAddressBitsNames = {"64", "32"};

/// In which order a basic block's instructions are executed.
enum class Order : std::uint8_t {
  AsWritten,
  Assembler,      ///< as an assembler leaves them, loads of shared memory joined (schedule.h)
  ListScheduled,  ///< the same, and latencies of arithmetic are hidden (latency_order.h)
};
inline constexpr std::array<std::string_view, 3> kOrderNames = {"as_written", "assembler",
                                                                "list_scheduled"};

/// Whose registers decide how many warps an SM holds.
enum class Registers : std::uint8_t {
  Ptx,       ///< values that the PTX text keeps at once
  Machine,   ///< the same of what lowering makes of it
  Compiled,  ///< those of machine code that the program brings along, else as Ptx
};
inline constexpr std::array<std::string_view, 3> kRegistersNames = {"ptx", "machine", "compiled"};

struct LoweringSpec {
  Level lowering = Level::Ptx;
  Generation generation = Generation::Volta;
  AddressBits address_bits = AddressBits::Bits64;
  Registers registers = Registers::Ptx;
  Order order = Order::AsWritten;
  std::uint32_t compute_capability = 70;  ///< the device's; no key of its own
  void visit(FieldVisitor& v);
};

}  // namespace raddle::lowering
