// A kernel's machine instructions as the pipeline wants them: hazards as bit sets, costs looked up,
// and which of them each PTX instruction of the stream stands for. Made once per launch and
// machine, shared by all SMs, never changed.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/timing/code/register_set.h"
#include "raddle/timing/spec/sm_spec.h"
#include "raddle/trace/lowered.h"

namespace raddle::timing {

/// Which part of the machine performs an instruction.
enum class Route : std::uint8_t {
  Pipeline,  ///< Alu, Branch, Exit: a unit with latency and interval
  Load,
  Store,
  Atomic,
  Reduce,  ///< global and local lines
  Shared,
  Const,
  Barrier,
  Fence,
  Sleep,
  LaunchStream,  ///< calls of the device runtime: of a stream,
  LaunchBuffer,  ///< of a buffer for a launch's parameters,
  Launch,        ///< of kernels
  Object,        ///< changes barrier objects or waits for them
  Copy,          ///< of the unit for bulk and tensor copies (sm.tma)
};
inline bool goes_to_lsu(Route r) { return r >= Route::Load && r <= Route::Const; }

/// What an instruction has to do with what runs beside its warp: copies and their groups, products
/// of warpgroups and theirs.
enum class Beside : std::uint8_t {
  None,
  BulkCopy,    ///< Copy
  TensorCopy,  ///< Copy that reads a descriptor first
  EndOfCopy,   ///< tells barrier objects of what a copy before it has brought
  EndsGroup,   ///< of cp.async
  EndsBulkGroup,
  EndsProducts,
  Waits,  ///< until at most so many groups are under way (groups_left())
  WaitsForCopies,
  WaitsForBulk,
  WaitsForBulkReads,
  WaitsForProducts,
};

struct DecodedInst {
  static constexpr std::uint16_t kNone = 0x100, kMultiple = 0x101;

  std::uint64_t bank_reads = 0;  ///< four bits for each register bank: its operands
  RegisterSet uses;  ///< sources, destinations and the PC: one AND is the whole hazard check
  std::uint32_t writes = 0;           ///< kMultiple: into DecodedKernel's sets
  std::uint16_t destination = kNone;  ///< the one register written, kNone or kMultiple
  std::uint16_t latency = 1;
  std::uint8_t interval = 1;
  Route route = Route::Pipeline;
  Unit unit = Unit::Int;
  bool payload = false;  ///< the record is followed by pieces
  bool local = false;    ///< piece lines are relative to the warp's local window
  bool bypass_l1 = false;
  bool acquires = false;  ///< what others have written before is seen behind it
  bool releases = false;  ///< waits until the warp's earlier accesses are visible
  /// Of a warpgroup: adds to what others under way add to, in order. How many the unit accepts.
  std::uint8_t product = 0;
  trace::ObjectAction action{};  ///< Object
  std::uint16_t const_at = 0;    ///< Const: where it reads (const_cache.h), or groups_left()
  Beside beside = Beside::None;
  std::uint8_t op_class = 0;                             ///< as counted
  std::uint8_t register_reads = 0, register_writes = 0;  ///< distinct, without predicates

  /// Of one that waits for groups: how many may be under way.
  unsigned groups_left() const { return const_at; }
};
static_assert(sizeof(DecodedInst) == 64, "a line of the host");

/// Where the machine instructions of a PTX instruction begin; they end where the next one's begin.
class Expansion {
 public:
  Expansion(std::uint32_t first, bool payload, bool barrier)
      : bits_(first | std::uint32_t{payload} << 30 | std::uint32_t{barrier} << 31) {}
  std::uint32_t first() const { return bits_ & 0x3fffffff; }
  /// Its records are followed by pieces.
  bool payload() const { return (bits_ >> 30 & 1) != 0; }
  /// Its records have no lane mask: all lanes of the warp take part.
  bool barrier() const { return bits_ >> 31 != 0; }

 private:
  std::uint32_t bits_;
};

class DecodedKernel {
 public:
  /// `lowered` must live as long. Instruction caches tell kernels apart by their number.
  DecodedKernel(const trace::LoweredCode& lowered, const SmSpec& sm, std::uint32_t number = 0);
  std::uint32_t number() const { return number_; }
  const DecodedInst* instructions() const { return instructions_.data(); }
  std::size_t size() const { return instructions_.size(); }
  /// Of the PTX instructions; one more than there are.
  const Expansion* expansions() const { return expansions_.data(); }
  std::size_t ptx_size() const { return expansions_.size() - 1; }
  const trace::KernelCode& code() const { return *code_; }
  /// Its warps meet at barriers or share memory: they do not run apart.
  bool shares_with_block() const { return shares_with_block_; }
  /// Registers of a thread that hold what it reads later, if it is at `next`: all where that is not
  /// known.
  std::uint32_t live_registers(const DecodedInst* next) const {
    return live_->empty() ? code_->registers_per_thread
                          : (*live_)[static_cast<std::size_t>(next - instructions())];
  }
  const RegisterSet& multiple_destinations(const DecodedInst& in) const {
    return multiple_destinations_[in.writes];
  }

 private:
  void wait_for_products();
  const trace::KernelCode* code_;
  const std::vector<std::uint32_t>* live_;
  std::vector<DecodedInst> instructions_;
  std::vector<Expansion> expansions_;
  std::vector<RegisterSet> multiple_destinations_;
  std::uint32_t number_;
  bool shares_with_block_ = false;
};

}  // namespace raddle::timing
