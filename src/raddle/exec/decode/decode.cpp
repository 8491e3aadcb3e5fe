// The walk over a function's instructions: joins, guards, jump targets, and what the timing model
// needs to know of each instruction.
#include "raddle/exec/decode/decode.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/ptx/analysis.h"

namespace raddle::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using ptx::Instruction;

constexpr u32 kCutEvery = 60;  // instructions; runs hold at most 63

bool is_guarded(const Instruction& inst) {
  return inst.guard != ptx::kNoIndex && inst.opcode != "bra";
}

/// By instruction, and past the last one: whether lanes that went different ways meet there.
std::vector<char> join_points(const ptx::Function& function, const std::vector<u32>& joins) {
  const u32 n = static_cast<u32>(function.instructions.size());
  std::vector<char> is_join(n + 1, 0);
  for (u32 i = 0; i < n; ++i) {
    const Instruction& inst = function.instructions[i];
    if ((inst.opcode == "bra" && inst.guard != ptx::kNoIndex) || inst.opcode == "brx") {
      RADDLE_ASSERT(joins[i] <= n);
      is_join[joins[i]] = 1;
    }
    if (inst.call == ptx::kNoIndex) continue;
    RADDLE_ASSERT(inst.call < function.calls.size());
    if (function.calls[inst.call].callee.kind == ptx::Operand::Kind::Register)
      is_join[i + 1] = 1;  // of lanes that call different functions
  }
  return is_join;
}

void decode_instruction(DecodeContext& ctx, const Instruction& inst) {
  const Handler handler = all_handlers().find(inst);
  const bool guarded = is_guarded(inst);
  ctx.frame.release_temporaries();
  ctx.in.begin(inst);
  std::size_t guard = 0;
  if (guarded) guard = ctx.out.begin_guard(ctx.frame.register_at(inst.guard), inst.guard_negated);
  if (handler == nullptr) refuse();
  ctx.syntax.check(ctx.function, inst);
  handler(ctx, inst);
  if (guarded) ctx.out.end_guard(guard);
}

/// Numbers of the scoreboard registers that a virtual register takes.
void add_architectural(const FrameLayout& frame, u32 reg, std::vector<std::uint8_t>& to) {
  const u16 number = frame.architectural(reg);
  if (number == ptx::RegisterAssignment::kNone) return;
  constexpr unsigned kGeneral = trace::kFirstPredicate;
  constexpr unsigned kPredicates = trace::kPcRegister - trace::kFirstPredicate;
  if (frame.is_predicate(reg)) {
    to.push_back(static_cast<std::uint8_t>(kGeneral + number % kPredicates));
    return;
  }
  const unsigned count = std::max(frame.register_width(reg) / 4, 1u);
  for (unsigned k = 0; k < count; ++k)
    to.push_back(static_cast<std::uint8_t>((number + k) % kGeneral));
}

/// What the timing model needs beside kind and class.
void describe(DecodeContext& ctx, const Instruction& inst) {
  ptx::RegisterAccess used;
  ptx::register_access(ctx.function, inst, used);
  trace::StaticInst& described = ctx.out.current();
  for (u32 r : used.reads) add_architectural(ctx.frame, r, described.reads);
  for (u32 r : used.writes) add_architectural(ctx.frame, r, described.writes);
  for (auto* list : {&described.reads, &described.writes}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (described.kind == trace::OpKind::Branch || trace::is_device_call(described.kind))
    described.writes.push_back(trace::kPcRegister);
  described.line = inst.line;
}

Unsupported unsupported_of(const DecodeContext& ctx, const Instruction& inst,
                           const Refusal& refusal) {
  std::string text = inst.text();
  if (!refusal.why.empty()) text += " (" + refusal.why + ")";
  return {ctx.function.name, text, inst.line, inst.column, ctx.module.source_of(ctx.function).file};
}

void decode_instructions(DecodeContext& ctx) {
  const u32 n = static_cast<u32>(ctx.function.instructions.size());
  const std::vector<char> is_join = join_points(ctx.function, ctx.joins);
  ctx.result.statics.resize(n);
  for (u32 i = 0; i < n; ++i) {
    const Instruction& inst = ctx.function.instructions[i];
    ctx.out.begin(i);
    if (is_join[i]) ctx.out.emit(O_join);
    if (i % kCutEvery == 0 && i > 0) ctx.out.emit(O_cut);
    try {
      decode_instruction(ctx, inst);
      describe(ctx, inst);
      ctx.result.statics[i] = std::move(ctx.out.current());
    } catch (const Refusal& refusal) {
      ctx.result.refused.push_back(unsupported_of(ctx, inst, refusal));
    }
  }
  ctx.out.begin(n);
  ctx.out.emit(O_end).imm = ctx.function.is_entry ? 1 : 0;
}

}  // namespace

DecodedFunction decode_function(const DecodeScope& scope) {
  const ptx::Module& module = *scope.layout->module;
  RADDLE_ASSERT(scope.function < module.functions.size());
  const ptx::Function& function = module.functions[scope.function];
  DecodedFunction result;
  result.code.source = &function;
  result.code.module_index = scope.function;
  result.code.first_instruction = scope.first_instruction;
  FrameLayout frame(scope, result.code);
  Emitter out(result.code);
  Operands in(scope, frame, out);
  FragmentCache fragments;
  SyntaxCheck syntax;
  const std::vector<u32> joins = ptx::reconvergence_points(function);
  RADDLE_ASSERT(joins.size() >= function.instructions.size());
  DecodeContext ctx{.scope = scope,
                    .module = module,
                    .function = function,
                    .result = result,
                    .frame = frame,
                    .in = in,
                    .out = out,
                    .fragments = fragments,
                    .syntax = syntax,
                    .joins = joins};
  decode_instructions(ctx);
  out.patch_jumps();
  result.generic_accesses = out.take_generic();
  result.copies = out.take_telling();
  return result;
}

}  // namespace raddle::exec
