// A decoded instruction and the state of a running warp, as plain data: the three builds of the
// lane engine (lanes/) and the rest of the room share exactly these bytes. No member functions
// here: an inline function compiled for AVX-512 must never be the copy that the linker keeps for
// everybody.
#pragma once
#include <cstddef>
#include <cstdint>

namespace raddle::exec {

/// Every operation of the engine. Arithmetic first (listed in isa/*.def), then the ones with a body
/// of their own.
enum Op : std::uint16_t {
#define ALU(name, ...) O_##name,
#define SETP(name, ...) O_##name,
#include "raddle/exec/isa/hot.def"
  kHotOps,
  kFirstTableOp = kHotOps,
  kBeforeTableOps = kHotOps - 1,
#include "raddle/exec/isa/convert.def"
#include "raddle/exec/isa/float.def"
#include "raddle/exec/isa/half.def"
#include "raddle/exec/isa/integer.def"
#undef ALU
#undef SETP
  kAluOps,
  kBeforeOthers = kAluOps - 1,
#define OTHER(name) O_##name,
#include "raddle/exec/isa/other.def"
#undef OTHER
  kOps,
};

/// 32 bytes, two to a cache line. d, a, b, c are byte offsets into the warp's frame, where a
/// register is 32 lanes in a row and a predicate one 32-bit mask. Immediates, parameters and
/// special registers are registers filled in advance, so operands have no kinds. One PTX
/// instruction may be several records; `inst` is its index in the trace's code.
struct Record {
  std::uint16_t op;
  std::uint16_t flags;  ///< see the handlers
  std::uint32_t inst;
  std::uint32_t d, a, b, c;
  std::int32_t imm;   ///< memory: address offset; jumps: records to the target
  std::uint32_t aux;  ///< jumps: records to the join as int32 (kNoJoin: the function's end)
};
static_assert(sizeof(Record) == 32);
inline constexpr std::int32_t kNoJoin = INT32_MIN;

/// Flags of memory records.
enum : std::uint16_t {
  kElementMask = 3,      ///< log2 of the bytes of one element in memory
  kSigned = 4,           ///< sign-extends to the register
  kRegisterShift = 3,    ///< log2 of the register's bytes, two bits
  kVectorShift = 5,      ///< elements - 1, two bits; data registers d, b, c, aux
  kNarrowAddress = 128,  ///< the address register has 32 bits
  kVisible = 256,        ///< other warps may see or cause it: live execution pauses after it
};

/// The lanes that an instruction names are a register: b of O_warp, a of a warp barrier, flags of
/// O_shfl in this unit (0: it names none).
inline constexpr std::uint32_t kMemberUnit = 64;
/// What O_warp does (imm).
enum class WarpOp : std::uint8_t {
  VoteAll,
  VoteAny,
  VoteUni,
  Ballot,
  MatchAny,
  MatchAll,
  Activemask,
  ReduxAdd,
  ReduxMin,
  ReduxMax,
  ReduxAnd,
  ReduxOr,
  ReduxXor,
};
/// Of a reduction's aux: of singles; of their magnitudes; one NaN makes the result one.
inline constexpr std::uint32_t kReduxFloat = 1, kReduxAbs = 2, kReduxNaN = 4;
/// What O_atom does (low byte of aux; the next byte is an AtomType, then a Space, then 1 when a
/// value is returned).
enum class AtomOp : std::uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor, Exchange, Compare };
enum class AtomType : std::uint8_t { U32, S32, U64, S64, F32, F64, F16, BF16, F16x2, BF16x2, B16 };
/// What a bar record does (imm); Popc, And, Or are bar.red.
enum class BarOp : std::uint8_t {
  Sync,
  Arrive,
  Popc,
  And,
  Or,
  ClusterArrive,
  ClusterWait,
  WarpgroupCommit,
  WarpgroupWait,  ///< until at most so many groups are left (aux)
};

/// Generic address windows, below DeviceMemory::kBase.
inline constexpr std::uint64_t kSharedWindow = 0x1'0000'0000, kLocalWindow = 0x2'0000'0000,
                               kParamWindow = 0x3'0000'0000, kWindowBytes = 0x1000'0000,
                               kCodeWindow = 0x4'0000'0000;
/// Shared memory of the block of rank r of a cluster, as its other blocks address it, starts at
/// (r + 1) << kRankShift of the shared window; below that lies a block's own.
inline constexpr unsigned kRankShift = 23, kMaxRanks = 16;

/// A path not taken yet, a join, or (frame set) the caller of the running function.
struct StackEntry {
  const Record* ip;
  const Record* join;
  char* frame;
  std::uint32_t mask, gone;
  std::uint32_t local_base, activation;
  std::uint32_t called;  ///< of a caller: the lanes that made the call
};

enum class Outcome : std::uint32_t {
  Done,
  Barrier,
  Pause,
  Converged,  ///< the lanes of a side have come to where it meets the others (run/sides.h)
  Meet,       ///< a side is before an instruction that names lanes of other sides, perhaps
};

struct Warp {
  const Record* ip;
  char* frame;
  std::uint32_t mask, effective;  ///< lanes at ip; the subset under the current guard
  std::uint32_t exited, gone;     ///< lanes that ended; lanes that also left the running function
  StackEntry* stack;
  std::uint32_t sp, stack_capacity;
  char* local;                 ///< lanes interleaved by 4-byte words
  std::uint32_t local_base;    ///< where the running function's variables start
  std::uint32_t activation;    ///< depth of calls
  std::uint32_t block, index;  ///< linear block number, warp within it
};

/// What the handlers see: one per running thread of the host.
struct Context {
  Warp* warp;
  std::uint32_t *out,
      *out_limit;     ///< op stream; a handler that would start beyond the limit pauses
  const Record* run;  ///< start of the straight run not yet written
  std::uint64_t warp_instructions, thread_instructions;
  std::uint64_t sleeps;   ///< of warps, counted in warp_instructions, too
  std::uint64_t stop_at;  ///< pause when warp_instructions has come here
  char* global;
  const std::uint8_t* valid;  ///< DeviceMemory::valid_bytes()
  std::uint64_t extent;       ///< bytes
  char* shared;
  std::uint32_t shared_bytes, local_bytes;
  const char* parameters;
  std::uint32_t parameter_bytes;
  /// By instruction: index of a generic access's shared form; behind it are the local one and a
  /// load's of parameters.
  const std::uint32_t* aliases;
  std::uint64_t clock_base;         ///< %clock at the launch's start: instructions of earlier ones
  std::uint32_t clustered;          ///< 1: blocks may access each other's shared memory
  std::uint32_t live;               ///< 1: pause soon after anything other warps can see
  std::uint32_t traced;             ///< 0: nobody reads the op stream, so pieces may be left out
  std::uint32_t parted;             ///< 1: stop before instructions that name lanes (run/sides.h),
  const Record* passed;             ///< but not before this one
  const struct LaneEngine* engine;  ///< that runs
  void* owner;                      ///< the plain half's own
};

/// sums += left * right, matrices by rows. Each sum is added to in the order of `depth`; product
/// and sum are each rounded once, to double precision.
struct RealProduct {
  const double *left, *right;
  double* sums;
  std::uint32_t rows, depth, columns;  ///< rows and columns: multiples of 8
  std::uint32_t pitch;                 ///< numbers to the next row, of `right` and `sums`
};

/// One build of the engine.
struct LaneEngine {
  const char* name;
  /// Runs context->warp until it ends, waits or must pause. Precondition: context->run == warp->ip.
  Outcome (*run)(Context*);
  void (*add_products)(const RealProduct&);
  /// Values of numbers in half precision.
  void (*widen_halves)(const std::uint16_t* halves, std::uint32_t count, double* values);
  /// Eight rows of eight sums, `pitch` numbers apart, of two registers of a warp as tensor
  /// instructions lay them: lane 4 r + t has columns 2 t and 2 t + 1 of row r. And back, rounded.
  void (*take_sums)(const float* even, const float* odd, double* sums, std::uint32_t pitch);
  void (*give_sums)(const double* sums, std::uint32_t pitch, float* even, float* odd);
};

// --- the plain half, called by the handlers ------------------------------------------------------

/// Throws RunError: some lane of `mask` makes an access outside its memory, or a misaligned one.
[[noreturn]] void memory_fault(Context* c, const Record* ip, char* frame, std::uint32_t mask);
void atomic_access(Context* c, const Record* ip, char* frame, std::uint32_t mask);
/// A load or store of shared memory of which some lane means another block's.
void distant_shared(Context* c, const Record* ip, char* frame, std::uint32_t mask,
                    std::uint64_t origin, std::uint32_t inst, std::uint32_t store);
void image_access(Context* c, const Record* ip, char* frame, std::uint32_t mask);
void warp_operation(Context* c, const Record* ip, char* frame, std::uint32_t mask);
/// Makes room for twice as many entries.
void grow_stack(Warp* w);
const Record* enter_function(Context* c, const Record* ip, char** frame, std::uint32_t effective,
                             std::uint32_t* mask);
void leave_function(Context* c, const StackEntry* caller, char** frame);
const Record* indexed_branch(Context* c, const Record* ip, char* frame, std::uint32_t effective,
                             std::uint32_t* mask);
void host_call(Context* c, const Record* ip, char* frame, std::uint32_t mask);
/// Runs Code::slow[ip->imm].
void slow(Context* c, const Record* ip, char* frame, std::uint32_t mask);
/// A call of the device runtime; returns the lanes that have launched a kernel.
std::uint32_t device_call(Context* c, const Record* ip, char* frame, std::uint32_t mask);
[[noreturn]] void trap(Context* c, const Record* ip, std::uint32_t mask);
/// The build that is observed only: the record at ip is going to be executed.
void observe(Context* c, const Record* ip, char* frame, std::uint32_t mask);

}  // namespace raddle::exec
