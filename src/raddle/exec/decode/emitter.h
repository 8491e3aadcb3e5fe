// The records of one function as they are made, and what the timing model gets to know
// of each instruction.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "raddle/exec/isa/kernel.h"
#include "raddle/trace/code.h"

namespace raddle::exec {

class Emitter {
 public:
  /// `code` must outlive it.
  explicit Emitter(Code& code) : code_(code) {}

  // --- one instruction after another ---
  /// Instruction `index` of the function begins, or its end where that is their number; what is
  /// emitted now is its.
  void begin(std::uint32_t index);
  std::uint32_t index() const { return index_; }  ///< of the instruction being decoded
  /// What the timing model gets to know of it.
  trace::StaticInst& current() { return current_; }

  // --- records ---
  const Code& code() const { return code_; }
  Record& emit(Op op, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
               std::uint32_t c = 0, std::int32_t imm = 0);
  /// Arithmetic. A destination may be a source only where both have the same width (frames see to
  /// that).
  void alu(Op op, std::uint32_t d, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
           std::uint32_t k = 0);
  /// This instruction has a stream record of its own, written by the record emitted next.
  Record& emit_own(Op op, trace::OpKind kind);
  Record& last();
  void op_class(trace::OpClass op_class) { current_.op_class = op_class; }
  /// Encloses what is emitted until end_guard(), which takes what this returns.
  std::size_t begin_guard(std::uint32_t predicate, bool negated);
  void end_guard(std::size_t guard);

  // --- jumps ---
  /// The record emitted last goes to instruction `target`; lanes that part there meet at `join`.
  void jump(std::uint32_t target, std::uint32_t join);
  /// After the last instruction: jumps get their distances.
  void patch_jumps();

  // --- generic accesses ---
  /// This instruction accesses generic addresses and needs alias entries.
  void generic_access() { generic_.push_back(index_); }
  std::vector<std::uint32_t> take_generic() { return std::move(generic_); }
  /// This instruction tells barrier objects of what it copies, and needs entries for that.
  void tells_objects() { telling_.push_back(index_); }
  std::vector<std::uint32_t> take_telling() { return std::move(telling_); }

  // --- slow instructions ---
  void emit_slow(std::unique_ptr<const SlowInstruction> instruction);
  /// `space`: where its accesses go; a generic one may turn out to be shared.
  void emit_slow_access(std::unique_ptr<const SlowInstruction> instruction, ptx::Space space,
                        bool store);

 private:
  Code& code_;
  std::uint32_t index_ = 0;
  bool own_ = false;  ///< its stream record has been emitted by a record of its own
  trace::StaticInst current_;
  std::vector<std::uint32_t> start_;  ///< first record by instruction
  struct Jump {
    std::size_t record;
    std::uint32_t target, join;  ///< instruction indices
  };
  std::vector<Jump> jumps_;
  std::vector<std::uint32_t> generic_, telling_;
};

}  // namespace raddle::exec
