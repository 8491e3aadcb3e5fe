// A PTX module as parsed: names resolved, registers numbered, labels turned into instruction
// indices, constants evaluated. Nothing here says what an instruction does; exec decodes that.
// Source: NVIDIA, "Parallel Thread Execution ISA", versions 6.0 to 9.0.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/ptx/kernel_registers.h"

namespace raddle::ptx {

enum class Type : std::uint8_t {
  None,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  Pred,
  U16x2,
  S16x2,
  F32x2,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  TexRef,
  SampRef,
  SurfRef,
};
/// Size of one value in bytes; Pred counts 1, None 0.
unsigned size_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);
std::string_view name_of(Type type);

enum class Space : std::uint8_t { Generic, Reg, Param, Const, Global, Local, Shared };

/// Special registers (%tid.x ... ). PM counters and the like are refused by the parser, by name.
enum class Special : std::uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  WarpSize,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
  DynamicSmemSize,
  TotalSmemSize,
  Envreg,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  ReservedSmemOffset,  ///< %reserved_smem_offset_1, where cooperative groups keep their state
};

inline constexpr std::uint32_t kNoIndex = ~std::uint32_t{0};

/// A symbol is a module variable, a function's own variable or parameter, or a function.
struct SymbolRef {
  enum class Scope : std::uint8_t { None, Module, Function, Parameter, ReturnParameter, Code };
  Scope scope = Scope::None;
  std::uint32_t index = kNoIndex;  ///< into Module::variables, Function::variables, ::parameters,
                                   ///< ::returns, Module::functions
};

struct Operand {
  enum class Kind : std::uint8_t {
    Register,    ///< reg
    Predicates,  ///< p|q of setp, shfl: reg and reg2 (kNoIndex for the sink _)
    Integer,     ///< bits, two's complement; `is_unsigned` when written with U or beyond int64
    Float32,     ///< 0f...: bits are the f32 pattern
    Float64,     ///< 0d... or a decimal: bits are the f64 pattern
    Special,     ///< special (and special_index for %envreg<n>)
    Symbol,      ///< symbol plus offset as a value (mov of an address, call target)
    Address,     ///< [base + offset]: base is a register (reg), a symbol, or absent; what follows a
                 ///< comma (sampler, coordinates, as in [tex, {x, y}]) is in elements
    Vector,      ///< {a, b, ...}: elements; {a, b}|p has reg2
    Label,       ///< target: instruction index
    Sink,        ///< _
  };
  Kind kind = Kind::Sink;
  bool negated = false;  ///< !p as a source; -r in vmad
  bool is_unsigned = false;
  Special special{};
  std::uint8_t special_index = 0;
  bool has_selector = false;  ///< a part of the register, as video instructions take it (%r1.b0)
  std::uint32_t reg = kNoIndex, reg2 = kNoIndex;  ///< index into Function::registers
  std::string_view selector;  ///< "b0"; digits from the highest part down in SIMD ones: "b3210"
  SymbolRef symbol;
  std::int64_t offset = 0;
  std::uint64_t bits = 0;
  std::uint32_t target = kNoIndex;
  std::vector<Operand> elements;
};

/// `call`: returns, callee (a symbol or a register with a prototype), arguments.
struct Call {
  std::vector<Operand> returns, arguments;
  Operand callee;
  std::uint32_t prototype = kNoIndex;  ///< into Function::prototypes, for indirect calls
  std::vector<std::uint32_t> targets;  ///< .calltargets, function indices; may be empty
};

/// A line of what PTX was made from.
struct SourceLine {
  std::uint32_t file = 0;  ///< number of a .file
  std::uint32_t line = 0;  ///< 0: nothing is said
  bool operator==(const SourceLine&) const = default;
};

/// One instruction. "ld.global.nc.v4.f32" has opcode "ld", modifiers {"global","nc","v4"}, types
/// {F32}. Views point into Module::text.
struct Instruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;  ///< every dotted word that is not a type, in order
  std::vector<Type> types;         ///< the type words, in order ("cvt.rn.f32.s32": F32, S32)
  std::vector<Operand> operands;   ///< destination first where there is one
  std::uint32_t guard = kNoIndex;  ///< predicate register
  bool guard_negated = false;
  std::uint32_t call = kNoIndex;              ///< into Function::calls
  std::vector<std::uint32_t> branch_targets;  ///< brx.idx: instruction indices
  unsigned line = 0, column = 0;
  SourceLine source;  ///< where .loc says it comes from
  SourceLine
      inlined_at;  ///< of code of an inlined function: where the function that is not inlined
                   ///< itself calls

  bool has(std::string_view modifier) const {
    for (std::string_view m : modifiers)
      if (m == modifier) return true;
    return false;
  }
  /// The opcode with all its dotted words as written, for messages.
  std::string text() const;
};

struct Register {
  std::string name;  ///< as written, e.g. "%r12"; inner scopes may repeat names
  Type type = Type::None;
};

/// Address constant inside an initialiser: `offset` bytes into the variable stands the address of
/// symbol + addend.
struct Relocation {
  std::uint64_t offset = 0;
  SymbolRef symbol;
  std::int64_t addend = 0;
  bool generic = false;  ///< generic(symbol)
  std::uint8_t size = 8,
               shift = 0;  ///< bytes stored; mask operators 0xFF(sym) select byte `shift`/8
};

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::None;
  std::uint64_t size = 0;  ///< bytes; 0 for an unsized extern .shared array
  std::uint32_t align = 1;
  bool is_array = false;  ///< declared with [], also by-value aggregate parameters
  bool is_extern = false, is_visible = false, is_weak = false, is_managed = false;
  std::vector<std::uint8_t> initial;  ///< shorter than size: the rest is zero
  std::vector<Relocation> relocations;
  unsigned line = 0;
};

struct Function {
  std::string name;
  bool is_entry = false, is_extern = false, is_weak = false, is_noreturn = false;
  bool is_visible = false;   ///< .visible: the one function of that name in all linked modules
  std::uint32_t source = 0;  ///< of a linked module: which text it is from, see source_of()
  std::vector<Variable> returns, parameters;
  std::vector<Register> registers;  ///< those used; .reg returns, then .reg parameters come first
  std::vector<Variable> variables;  ///< .shared/.local/.param/... declared in the body, all scopes
  std::vector<Instruction> instructions;
  std::vector<Call> calls;
  struct Prototype {
    std::vector<Variable> returns, parameters;
  };
  std::vector<Prototype> prototypes;
  std::optional<Dim3> max_threads, required_threads;  ///< .maxntid, .reqntid
  std::optional<Dim3> required_cluster;               ///< .reqnctapercluster
  std::optional<std::uint32_t> min_blocks_per_sm, max_registers;
  RegistersByGpu compiled_registers;  ///< of an entry, where somebody knows; no PTX says so
  unsigned line = 0;
};

/// By number, as .file gives them.
using SourceFiles = std::map<std::uint32_t, std::string>;

struct Module {
  std::shared_ptr<const std::string> text;  ///< views point here
  std::string file;                         ///< for messages
  SourceFiles source_files;
  struct Source {
    std::shared_ptr<const std::string> text;
    std::string file;
    SourceFiles source_files;
  };
  std::vector<Source> linked;  ///< further texts of a module that link() has made
  unsigned version_major = 0, version_minor = 0;
  std::string target;  ///< "sm_70"
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function>
      functions;  ///< entries and device functions, in order; is_extern = no body here

  /// nullptr when there is none.
  const Function* find_entry(std::string_view name) const;
  /// Text and file that a function was written in: its lines and views are of these.
  Source source_of(const Function& function) const {
    return function.source == 0 ? Source{text, file, source_files} : linked[function.source - 1];
  }
};

/// Parses one module. Throws InputError (file, line, column) on anything that is not PTX 6.0-9.0
/// with 64-bit addresses, or that names something undefined. Instructions that the functional
/// machine cannot run are not refused here; see unsupported() in exec/decode/program.h.
/// Refuses text over 256 MiB.
Module parse(std::string text, std::string file);

}  // namespace raddle::ptx
