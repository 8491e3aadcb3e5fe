// Hand-written kernels and op streams for the timing model, without a functional machine.
//     Code code;
//     auto ld = code.load(1, 10), use = code.alu(2, {1});
//     Recording r(code, {.grid = {4}, .block = {64}});
//     r.each_warp([&](WarpWriter& w) { w.lines(ld, {{100}}).op(use); });
//     gpu.run(r.stream(), {});
#pragma once
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "raddle/trace/memory_trace.h"

namespace raddle::support {

using trace::OpClass;
using trace::OpKind;

/// Static instructions, added in program order; each call returns the instruction's index.
class Code {
 public:
  using Registers = std::vector<std::uint8_t>;
  explicit Code(std::string name = "kernel") {
    code_.name = std::move(name);
    code_.file = "kernel.ptx";
    code_.registers_per_thread = 16;
  }
  std::uint32_t add(OpKind kind, OpClass op_class, Registers writes, Registers reads,
                    const char* opcode) {
    trace::StaticInst in;
    in.kind = kind;
    in.op_class = op_class;
    in.bytes = 4;
    in.writes = std::move(writes);
    in.reads = std::move(reads);
    in.line = static_cast<std::uint32_t>(code_.instructions.size()) + 1;
    in.opcode = static_cast<std::uint16_t>(code_.opcode_names.size());
    code_.opcode_names.emplace_back(opcode);
    code_.instructions.push_back(std::move(in));
    return static_cast<std::uint32_t>(code_.instructions.size()) - 1;
  }
  std::uint32_t op(OpClass c, std::uint8_t d, Registers s) {
    return add(OpKind::Alu, c, {d}, std::move(s), "op");
  }
  std::uint32_t alu(std::uint8_t d, Registers s) { return op(OpClass::Int, d, std::move(s)); }
  std::uint32_t fma(std::uint8_t d, Registers s) { return op(OpClass::Fp32, d, std::move(s)); }
  std::uint32_t sfu(std::uint8_t d, Registers s) { return op(OpClass::Sfu, d, std::move(s)); }
  std::uint32_t branch(Registers s = {}) { return control(OpKind::Branch, std::move(s), "bra"); }
  std::uint32_t barrier() { return add(OpKind::Barrier, OpClass::Barrier, {}, {}, "bar.sync"); }
  std::uint32_t fence() {
    const std::uint32_t inst = control(OpKind::Fence, {}, "membar.gl");
    code_.instructions[inst].bytes = trace::kFullFence;
    return inst;
  }
  std::uint32_t sleep() { return control(OpKind::Sleep, {}, "nanosleep.u32"); }
  std::uint32_t exit() { return control(OpKind::Exit, {}, "exit"); }
  std::uint32_t memory(OpKind kind, Registers writes, Registers reads, const char* opcode) {
    return add(kind, OpClass::Memory, std::move(writes), std::move(reads), opcode);
  }
  std::uint32_t load(std::uint8_t d, std::uint8_t a) {
    return memory(OpKind::LoadGlobal, {d}, {a}, "ld.global.f32");
  }
  std::uint32_t store(std::uint8_t v, std::uint8_t a) {
    return memory(OpKind::StoreGlobal, {}, {v, a}, "st.global.f32");
  }
  std::uint32_t load_shared(std::uint8_t d, std::uint8_t a) {
    return memory(OpKind::LoadShared, {d}, {a}, "ld.shared.f32");
  }
  std::uint32_t store_shared(std::uint8_t v, std::uint8_t a) {
    return memory(OpKind::StoreShared, {}, {v, a}, "st.shared.f32");
  }
  std::uint32_t load_const(std::uint8_t d) {
    return memory(OpKind::LoadConst, {d}, {}, "ld.param.u64");
  }
  std::uint32_t atomic(std::uint8_t d, std::uint8_t a) {
    return memory(OpKind::AtomicGlobal, {d}, {a}, "atom.global.add.u32");
  }
  std::uint32_t reduce(std::uint8_t a) {
    return memory(OpKind::ReduceGlobal, {}, {a}, "red.global.add.u32");
  }

  /// For what the calls above do not set.
  trace::KernelCode& raw() { return code_; }
  const trace::KernelCode& raw() const { return code_; }

 private:
  std::uint32_t control(OpKind kind, Registers s, const char* opcode) {
    return add(kind, OpClass::Control, {}, std::move(s), opcode);
  }
  trace::KernelCode code_;
};

/// A line with the words and lanes that touch it; all 32 of each unless said otherwise.
struct TransactionSpec {
  std::uint32_t line = 0, words = kFullMask;
  LaneMask lanes = kFullMask;
};

/// Appends one warp's records.
class WarpWriter {
 public:
  WarpWriter(const trace::KernelCode& code, std::uint32_t block, unsigned warp)
      : block_(block), warp_(warp), code_(code) {}
  std::uint32_t block() const { return block_; }
  unsigned warp() const { return warp_; }
  /// An instruction without payload. Consecutive ones under one mask share a record, as exec writes
  /// them.
  WarpWriter& op(std::uint32_t inst, LaneMask mask = kFullMask) {
    if (extends_run(inst, mask)) {
      words_[run_] += 1u << 20;
    } else {
      run_ = words_.size();
      put(trace::Record::make(inst, 1, 0, mask));
    }
    if (code_.instructions[inst].kind != OpKind::Alu &&
        code_.instructions[inst].kind != OpKind::Branch)
      run_ = kNoRun;
    return *this;
  }
  /// A global or local access.
  WarpWriter& lines(std::uint32_t inst, const std::vector<TransactionSpec>& transactions,
                    LaneMask mask = kFullMask) {
    passes(inst, static_cast<unsigned>(transactions.size()), mask);
    for (const TransactionSpec& p : transactions)
      words_.insert(words_.end(), {p.line, p.words, p.lanes});
    return *this;
  }
  /// A shared or constant access of so many passes; a sleep of 2^n nanoseconds.
  WarpWriter& passes(std::uint32_t inst, unsigned n, LaneMask mask = kFullMask) {
    run_ = kNoRun;
    put(trace::Record::make(inst, 1, n, mask));
    return *this;
  }
  WarpWriter& barrier(std::uint32_t inst, unsigned id = 0,
                      trace::BarrierKind kind = trace::BarrierKind::Sync,
                      unsigned expected_warps = 0) {
    return passes(inst, 0, id | static_cast<unsigned>(kind) << 4 | expected_warps << 8);
  }
  std::vector<std::uint32_t>& words() { return words_; }

 private:
  static constexpr std::size_t kNoRun = ~std::size_t{0};
  bool extends_run(std::uint32_t inst, LaneMask mask) const {
    if (run_ == kNoRun || words_[run_ + 1] != mask) return false;
    trace::Record r{words_[run_], mask};
    return r.inst() + r.count() == inst && r.count() < trace::kMaxRun &&
           code_.instructions[inst].kind <= OpKind::Branch;
  }
  void put(trace::Record r) { words_.insert(words_.end(), {r.head, r.mask}); }
  std::uint32_t block_;
  unsigned warp_;
  const trace::KernelCode& code_;
  std::size_t run_ = kNoRun;  // where the run that may grow starts
  std::vector<std::uint32_t> words_;
};

/// A recorded launch.
class Recording {
 public:
  Recording(const Code& code, trace::LaunchShape shape)
      : code_(std::make_shared<const trace::KernelCode>(code.raw())),
        trace_(std::make_unique<trace::MemoryTrace>(code_, shape)) {}
  /// Calls write(WarpWriter&) for each warp of the grid.
  template <class Write>
  Recording& each_warp(Write write) {
    for (std::uint32_t b = 0; b < trace_->shape().grid.count(); ++b)
      for (unsigned w = 0; w < trace_->shape().warps_per_block(); ++w) {
        WarpWriter writer(*code_, b, w);
        write(writer);
        commit(writer);
      }
    return *this;
  }
  void commit(WarpWriter& writer) {
    auto& words = writer.words();
    auto room = trace_->grow(writer.block(), writer.warp(), static_cast<unsigned>(words.size()));
    trace_->commit(writer.block(), writer.warp(), std::copy(words.begin(), words.end(), room.at));
  }
  const trace::KernelCode& code() const { return *code_; }
  trace::MemoryTrace& stream() { return *trace_; }

 private:
  std::shared_ptr<const trace::KernelCode> code_;
  std::unique_ptr<trace::MemoryTrace> trace_;
};

}  // namespace raddle::support
