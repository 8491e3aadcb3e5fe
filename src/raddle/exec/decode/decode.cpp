// The decoder's frame: where registers lie, the walk over the instructions, joins, guards, jump
// targets.
//
// Registers of one width that the register assignment gave the same number share a place in the
// frame, so frames stay as small as on the real machine and in the host's first-level cache.
// Registers of different width never do: lane L of an 8-byte register would lie over lanes 2L and
// 2L+1 of a 4-byte one, which may be live there when the warp has diverged.
#include "raddle/exec/decode/decode.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::exec {
namespace {

constexpr std::uint32_t kSlot = 128;  // 32 lanes of 4 bytes
constexpr std::uint32_t kTemporaries = 24, kPredicateTemporaries = 8;
constexpr std::uint32_t kCutEvery = 60;  // instructions; runs hold at most 63

using u16 = std::uint16_t;
using u32 = std::uint32_t;

u32 round_up(u32 n, u32 to) { return (n + to - 1) / to * to; }

}  // namespace

Decoder::Decoder(const DecodeScope& scope)
    : scope_(scope), module_(*scope.layout->module), function_(module_.functions[scope.function]) {
  code_.source = &function_;
  code_.module_index = scope.function;
  code_.first_instruction = scope.first_instruction;
}

void Decoder::run() {
  lay_out_frame();
  joins_ = ptx::reconvergence_points(function_);
  decode_all();
  patch_targets();
}

// Frame: predicates (4 bytes each; the first is always true, the second false), architectural
// registers, carry, waste, temporaries, body variables in param space, then constants as they come
// up.
void Decoder::lay_out_frame() {
  const ptx::RegisterAssignment assigned = ptx::assign_registers(function_);
  architectural_ = assigned.number;
  false_at_ = 4;
  predicate_temporaries_at_ = 8 + 4 * assigned.predicates;
  const u32 base = round_up(predicate_temporaries_at_ + 4 * kPredicateTemporaries, kSlot);
  u32 next = base;
  std::map<std::pair<unsigned, u16>, u32> slots;  // by width and number, in order of appearance
  for (std::size_t r = 0; r < assigned.number.size(); ++r) {
    const u16 number = assigned.number[r];
    const bool is_predicate = function_.registers[r].type == Type::Pred;
    if (number == ptx::RegisterAssignment::kNone || is_predicate) continue;
    const unsigned width = register_width(static_cast<u32>(r));
    if (slots.try_emplace({width, number}, next).second) next += width == 8 ? 2 * kSlot : kSlot;
  }
  trash_at_ = next;
  carry_at_ = trash_at_ + 4 * kSlot;
  temporaries_at_ = carry_at_ + kSlot;
  code_.frame_bytes = temporaries_at_ + 2 * kSlot * kTemporaries;
  code_.registers = assigned.registers;
  register_at_.resize(function_.registers.size());
  for (std::size_t r = 0; r < register_at_.size(); ++r) {
    const u16 number = assigned.number[r];
    const bool none = number == ptx::RegisterAssignment::kNone;
    if (function_.registers[r].type == Type::Pred)
      register_at_[r] = none ? predicate_temporaries_at_ : 8 + 4u * number;
    else register_at_[r] = none ? trash_at_ : slots[{register_width(static_cast<u32>(r)), number}];
  }
  place_parameters();
}

void Decoder::place_parameters() {
  u32 next_register = 0;
  const auto place = [&](const ptx::Variable& v) {
    if (v.space == ptx::Space::Reg) {
      const u32 r = next_register++;
      return ParameterPlace{register_at_[r], register_width(r), true};
    }
    const ParameterPlace p{code_.frame_bytes, static_cast<u32>(v.size), false};
    code_.frame_bytes += p.frame_bytes();
    return p;
  };
  if (!function_.is_entry) {
    for (const ptx::Variable& v : function_.returns) code_.returns.push_back(place(v));
    for (const ptx::Variable& v : function_.parameters) code_.parameters.push_back(place(v));
  }
  for (u32 i = 0; i < function_.variables.size(); ++i) {
    const ptx::Variable& v = function_.variables[i];
    u32 at = 0;
    if (v.space == ptx::Space::Param) {
      at = code_.frame_bytes;
      code_.frame_bytes += round_up(static_cast<u32>(v.size), 4) * 32;
    } else if (v.space == ptx::Space::Local) {
      at = round_up(code_.local_bytes, std::max(v.align, 4u));
      code_.local_bytes = at + static_cast<u32>(v.size);
    } else if (v.space == ptx::Space::Shared) {
      const auto found = scope_.shared->local.find({scope_.function, i});
      if (found != scope_.shared->local.end()) at = found->second;
    }
    variable_at_.push_back(at);
  }
  code_.local_bytes = round_up(code_.local_bytes, 16);
}

void Decoder::decode_all() {
  const u32 n = static_cast<u32>(function_.instructions.size());
  std::vector<char> is_join(n + 1, 0);
  for (u32 i = 0; i < n; ++i) {
    const Inst& inst = function_.instructions[i];
    if ((inst.opcode == "bra" && inst.guard != ptx::kNoIndex) || inst.opcode == "brx")
      is_join[joins_[i]] = 1;
    if (inst.call != ptx::kNoIndex &&
        function_.calls[inst.call].callee.kind == ptx::Operand::Kind::Register)
      is_join[i + 1] = 1;  // lanes that call different functions meet here
  }
  start_.resize(n + 1);
  static_.resize(n);
  for (u32 i = 0; i < n; ++i) {
    index_ = i;
    own_ = false;
    start_[i] = static_cast<u32>(code_.records.size());
    if (is_join[i]) emit(O_join);
    if (i % kCutEvery == 0 && i > 0) emit(O_cut);
    try {
      decode_instruction(i);
    } catch (const Refusal& refusal) {
      const Inst& inst = function_.instructions[i];
      std::string text = inst.text();
      if (!refusal.why.empty()) text += " (" + refusal.why + ")";
      refused_.push_back(
          {function_.name, text, inst.line, inst.column, module_.source_of(function_).file});
    }
  }
  index_ = n;
  own_ = false;
  start_[n] = static_cast<u32>(code_.records.size());
  emit(O_end).imm = function_.is_entry ? 1 : 0;
}

void Decoder::decode_instruction(u32 index) {
  inst_ = &function_.instructions[index];
  const Inst& inst = *inst_;
  temporaries_used_ = predicates_used_ = 0;
  current_ = {};
  const bool jumps = inst.opcode == "bra";
  const bool guarded = inst.guard != ptx::kNoIndex && !jumps;
  const std::size_t at = code_.records.size();
  if (guarded) {
    Record& r = emit(O_guard);
    r.a = predicate_register(inst.guard);
    r.d = inst.guard_negated ? ~0u : 0u;
  }
  dispatch(inst);
  if (guarded) {
    const bool own = own_;
    own_ = true;
    emit(O_unguard);
    Record& r = code_.records[at];
    r.imm = own ? 0 : 1;
    r.aux = static_cast<u32>(code_.records.size() - at);
  }
  describe(index);
}

// What the timing model needs beside kind and class.
void Decoder::describe(u32 index) {
  const Inst& inst = *inst_;
  ptx::RegisterAccess used;
  ptx::register_access(function_, inst, used);
  const auto add = [&](std::vector<std::uint8_t>& to, u32 reg) {
    const u16 number = architectural_[reg];
    if (number == ptx::RegisterAssignment::kNone) return;
    constexpr unsigned kGeneral = trace::kFirstPredicate;
    constexpr unsigned kPredicates = trace::kPcRegister - trace::kFirstPredicate;
    const unsigned count = register_width(reg) == 8 ? 2 : 1;
    if (function_.registers[reg].type == Type::Pred)
      to.push_back(static_cast<std::uint8_t>(kGeneral + number % kPredicates));
    else
      for (unsigned k = 0; k < count; ++k)
        to.push_back(static_cast<std::uint8_t>((number + k) % kGeneral));
  };
  for (u32 r : used.reads) add(current_.reads, r);
  for (u32 r : used.writes) add(current_.writes, r);
  for (auto* list : {&current_.reads, &current_.writes}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (current_.kind == trace::OpKind::Branch || trace::is_device_call(current_.kind))
    current_.writes.push_back(trace::kPcRegister);
  current_.line = inst.line;
  static_[index] = current_;
}

Record& Decoder::emit(Op op, u32 d, u32 a, u32 b, u32 c, std::int32_t imm) {
  code_.records.push_back({});
  Record& r = code_.records.back();
  r.op = op;
  r.inst = scope_.first_instruction + index_ + (own_ ? 1 : 0);
  r.d = d, r.a = a, r.b = b, r.c = c, r.imm = imm;
  return r;
}

Record& Decoder::emit_own(Op op, trace::OpKind kind) {
  current_.kind = kind;
  if (kind != trace::OpKind::Alu)
    current_.op_class = kind == trace::OpKind::Branch || kind == trace::OpKind::Exit ||
                                kind == trace::OpKind::Sleep || trace::is_device_call(kind)
                            ? trace::OpClass::Control
                        : kind == trace::OpKind::Barrier ? trace::OpClass::Barrier
                                                         : trace::OpClass::Memory;
  Record& r = emit(op);
  own_ = true;
  return r;
}

void Decoder::alu(Op op, u32 d, u32 a, u32 b, u32 c, u32 k) {
  emit(op, d, a, b, c, static_cast<std::int32_t>(k));
}

void Decoder::patch_targets() {
  const u32 n = static_cast<u32>(function_.instructions.size());
  for (const Fix& fix : fixes_) {
    Record& r = code_.records[fix.record];
    const auto distance = [&](u32 to) {
      return static_cast<std::int32_t>(start_[to]) - static_cast<std::int32_t>(fix.record);
    };
    if (r.op == O_brx) {
      auto& table = code_.branch_tables[static_cast<std::size_t>(r.imm)];
      for (std::int32_t& entry : table) entry = distance(static_cast<u32>(entry));
    } else if (r.op != O_call_indirect) {
      r.imm = distance(fix.target);
    }
    r.aux = static_cast<u32>(fix.join == n ? kNoJoin : distance(fix.join));
  }
}

void Decoder::refuse(const std::string& why) const { throw Refusal{why}; }

}  // namespace raddle::exec
