// What the opcodes of Volta, Turing, Ampere and Hopper machine code (SASS) do to the pipeline. Own
// tables, after the instruction lists of NVIDIA's "CUDA Binary Utilities", chapter "Instruction Set
// Reference".
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/trace/code.h"

namespace raddle::accelsim {

enum class Generation : std::uint8_t { Volta, Turing, Ampere, Hopper };

/// Which memory an instruction means.
enum class Space : std::uint8_t { None, Global, Shared, Local, Const, Generic };

/// What else than one register each its operands are. Traces name the first register only.
enum class Width : std::uint8_t {
  Plain,
  Data,    ///< memory: as many as the data needs, pairs for 64-bit addresses (.E)
  Double,  ///< all are pairs
  Sized,   ///< pairs when a modifier says 64 (conversions)
  Wide,    ///< with .WIDE: the result and the last source are pairs
  Matrix,  ///< by shape and type
};

/// What an instruction does besides what its kind says (import_async.cpp).
enum class Effect : std::uint8_t {
  None,
  Untimed,       ///< has none yet: told at the end of a run
  Marker,        ///< no instruction: Accel-Sim's REPLAY_START, REPLAY_END around a wait
  Product,       ///< of a warpgroup
  Warpgroup,     ///< ARRIVE; DEPBAR: waits for products
  Copy,          ///< bulk and tensor copies
  EndsCopies,    ///< a group of LDGSTS ends,
  EndsBulk,      ///< one of bulk stores
  Waits,         ///< DEPBAR: for such groups
  Object,        ///< barrier objects (mbarrier)
  CopiesArrive,  ///< at a barrier object, when the warp's LDGSTS have come
  ClusterArrive,
  ClusterWait,
};

struct Opcode {
  std::string_view name;  ///< up to the first dot
  trace::OpKind kind = trace::OpKind::Alu;
  trace::OpClass op_class = trace::OpClass::Int;
  Space space = Space::None;
  Width width = Width::Plain;
  std::uint8_t generations = 0;  ///< bit by Generation
  Effect effect = Effect::None;
};

/// Of a trace's `binary version` (70 .. 90). Throws InputError (without a place) naming those
/// known.
Generation generation_of(std::uint64_t binary_version);
std::string_view name_of(Generation generation);
/// Null when the generation's documentation has no such instruction.
const Opcode* find_opcode(Generation generation, std::string_view mnemonic);

}  // namespace raddle::accelsim
