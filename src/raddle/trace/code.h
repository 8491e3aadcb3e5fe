// The static half of an op stream: what the timing model knows of each instruction of a kernel.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::trace {

/// What an instruction does to the pipeline. Loads read `pieces` from the stream (see stream.h).
enum class OpKind : std::uint8_t {
  Alu,      ///< any arithmetic; cost by OpClass
  Branch,   ///< following instructions of the warp wait for it
  Barrier,  ///< waits for the block's warps; expected count in the record, see stream.h
  Fence,    ///< waits until the warp's earlier memory operations are visible
  Exit,     ///< ends lanes; the warp ends when its stream does
  LoadGlobal,
  StoreGlobal,
  AtomicGlobal,  ///< Atomic returns a value
  ReduceGlobal,  ///< no value returned
  LoadLocal,
  StoreLocal,  ///< line numbers relative to the warp's local window
  LoadShared,
  StoreShared,
  AtomicShared,   ///< piece count = bank passes, no payload
  LoadConst,      ///< also kernel parameters; piece count = distinct addresses
  Sleep,          ///< nanosleep
  Launch,         ///< device-side launch: one kernel for each lane of the record's mask
  LaunchStream,   ///< a stream for launches, one for each lane
  LaunchBuffer,   ///< a buffer for a launch's parameters, one for each lane
  BarrierObject,  ///< changes barrier objects (mbarrier), or waits for them
};
inline constexpr unsigned kOpKinds = static_cast<unsigned>(OpKind::BarrierObject) + 1;
/// Calls of the device runtime that the timing knows. Following instructions wait for them.
constexpr bool is_device_call(OpKind kind) {
  return kind >= OpKind::Launch && kind <= OpKind::LaunchBuffer;
}

/// What a BarrierObject instruction does (StaticInst::bytes) with each object of its record.
enum class ObjectAction : std::uint8_t {
  Init,    ///< expects so many arrivals in each phase
  Arrive,  ///< so many arrivals; expects so many bytes
  Drop,    ///< the same, and later phases expect so many fewer
  Copies,  ///< so many arrivals more in this phase, made when the warp's earlier copies have come
  Copied,  ///< so many arrivals, or bytes, when the warp's earlier copies have come
  Come,    ///< so many bytes have
  Wait,    ///< until so many phases are over
};

/// Do records of this kind carry pieces as payload (stream.h)?
constexpr bool carries_transactions(OpKind kind) {
  switch (kind) {
    case OpKind::LoadGlobal:
    case OpKind::StoreGlobal:
    case OpKind::AtomicGlobal:
    case OpKind::ReduceGlobal:
    case OpKind::LoadLocal:
    case OpKind::StoreLocal:
    case OpKind::BarrierObject:
      return true;
    default:
      return false;
  }
}
/// ... which are lines of memory?
constexpr bool carries_lines(OpKind kind) {
  return carries_transactions(kind) && kind != OpKind::BarrierObject;
}

/// Latency class of an Alu op; a machine file gives unit, latency and initiation interval of each.
enum class OpClass : std::uint8_t {
  Move,
  Int,
  IntMul,
  IntDiv,
  Convert,
  Fp16,
  Fp32,
  Fp32Div,
  Fp64,
  Fp64Div,
  Sfu,
  Tensor,
  Control,
  Memory,
  Shuffle,   ///< values from lane to lane
  Barrier,   ///< of a thread block
  Converge,  ///< lanes of a warp wait for one another behind a branch: BSYNC
  Count
};
inline constexpr unsigned kOpClasses = static_cast<unsigned>(OpClass::Count);
inline constexpr auto kOpClassNames = std::to_array<const char*>(
    {"move", "int", "int_mul", "int_div", "convert", "fp16", "fp32", "fp32_div", "fp64", "fp64_div",
     "sfu", "tensor", "control", "memory", "shuffle", "barrier", "converge"});
static_assert(kOpClassNames.size() == kOpClasses);

/// Architectural registers 0..253 are general; predicates are numbered from kFirstPredicate.
/// Kernels that need more wrap around (a false dependence, never a missed one).
inline constexpr unsigned kScoreboardRegisters = 256;
inline constexpr std::uint8_t kFirstPredicate = 240, kPcRegister = 255;

/// What a Fence does besides waiting (StaticInst::bytes).
inline constexpr std::uint8_t kFullFence = 0, kBlockScope = 1, kReleaseOnly = 2;
/// Of a Fence for groups of the warp's copies (cp.async): it ends one; waits until at most so many
/// of those ended are under way (kGroupsLeft); waits for all copies, of ended groups or not. Then
/// the same of bulk copies; what has been read of shared memory is over for the last.
inline constexpr std::uint8_t kEndsGroup = 3, kWaitsForGroups = 4, kWaitsForCopies = 5,
                              kEndsBulkGroup = 6, kWaitsForBulkGroups = 7, kWaitsForBulkReads = 8;
/// Where in StaticInst::bytes stands how many groups may be under way; as many or more.
inline constexpr unsigned kGroupsLeft = 8, kMaxGroupsLeft = 255;
inline constexpr unsigned kTensorParts = 64;
/// Beside the parts: a product of a warpgroup, which runs beside its warps; its A lies in shared
/// memory; only half of its A is there (sparse), so B has twice the depth.
inline constexpr std::uint16_t kWarpgroupProduct = 1u << 15, kSharedA = 1u << 14,
                               kSparseA = 1u << 13;
inline constexpr std::uint16_t kPartsMask = kSparseA - 1;
/// What a Barrier of class Control does (StaticInst::bytes): waits for all products of the warp;
/// ends a group of them; waits until at most so many groups are under way (kGroupsLeft).
inline constexpr std::uint16_t kWaitsForProducts = 1, kEndsProducts = 2, kWaitsForProductGroups = 3;
/// Of a register, an instruction: none.
inline constexpr std::uint32_t kNoRegister = ~std::uint32_t{0};

/// A copy that a unit of the SM makes (TMA): of the instruction that issues it, and of what tells
/// barrier objects behind it.
enum class CopyKind : std::uint8_t { None, Bulk, Tensor };

/// An operand as an assembler sees it. Registers are those of the PTX text, numbered over all
/// functions of the kernel (KernelCode::register_bytes); lowering reasons about them.
struct Operand {
  enum class Kind : std::uint8_t {
    Write,
    Read,
    Guard,
    Address,    ///< base register of an access or none; value is the offset
    Immediate,  ///< value
    Special,    ///< %tid and the like; value 1: a constant of the launch (%ntid)
    Other,      ///< address of a variable or function
  };
  Kind kind = Kind::Other;
  std::uint32_t reg = kNoRegister;
  std::int64_t value = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// A line of what the PTX was made from.
struct SourcePlace {
  std::uint32_t file = 0;  ///< into KernelCode::source_files
  std::uint32_t line = 0;  ///< 0: not known
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

struct StaticInst {
  OpKind kind = OpKind::Alu;
  OpClass op_class = OpClass::Int;
  /// Per lane, memory operations (vector accesses: all elements). Of a Fence: kBlockScope if it
  /// orders accesses for the block's threads only, and so waits for nothing; kReleaseOnly if what
  /// others have written need not be seen behind it; one of groups of copies; else kFullFence. Of a
  /// Tensor operation: its work in parts of kTensorParts, which are 4096 multiply-adds of f16; 0
  /// counts as all of them; and kWarpgroupProduct and what goes with it.
  /// Of a BarrierObject: its ObjectAction.
  std::uint16_t bytes = 0;
  bool bypass_l1 = false;  ///< .cg, .cv, volatile, relaxed and stronger
  /// An access at the scope of a cluster or wider that orders others (PTX ISA, memory consistency
  /// model): the warp goes on when it has come, and sees what others have written; it waits until
  /// the warp's earlier accesses are visible.
  bool acquires = false, releases = false;
  CopyKind copy = CopyKind::None;
  std::vector<std::uint8_t> reads, writes;  ///< scoreboard registers, guard included in reads
  std::uint32_t line = 0;                   ///< of the PTX text, for reports
  std::uint16_t opcode = 0;                 ///< into KernelCode::opcode_names
  std::vector<Operand> operands;            ///< in PTX order, the guard first
  bool jumps = false;                       ///< ends a basic block
  std::vector<std::uint32_t> next;          ///< when it jumps: instructions that may follow
  std::uint32_t alias_of = kNoRegister;  ///< stands for that instruction in another address space
  /// Stood on a side of a branch that has become this predicate (lowering/schedule.h).
  std::uint32_t predicate = kNoRegister;
  SourcePlace source;  ///< where it was written (nvcc -lineinfo)
  friend bool operator==(const StaticInst&, const StaticInst&) = default;
};

struct KernelCode {
  std::string name;
  std::string file;                       ///< PTX file, for reports
  std::vector<std::string> source_files;  ///< that the PTX names as what it was made from
  std::vector<StaticInst> instructions;
  std::vector<std::string> opcode_names;     ///< "fma.rn.f32" ...
  std::vector<std::uint8_t> register_bytes;  ///< by PTX register; 0: a predicate
  std::uint32_t registers_per_thread = 0;
  /// By compute capability (75): those of machine code that the program brings along.
  std::map<std::uint32_t, std::uint32_t> compiled_registers;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  friend bool operator==(const KernelCode&, const KernelCode&) = default;
};

}  // namespace raddle::trace
