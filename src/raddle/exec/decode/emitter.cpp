#include "raddle/exec/decode/emitter.h"

#include "raddle/base/error.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using trace::OpClass;
using trace::OpKind;

/// The class of an instruction that writes a stream record of its own.
OpClass class_of(OpKind kind) {
  if (kind == OpKind::Branch || kind == OpKind::Exit || kind == OpKind::Sleep ||
      trace::is_device_call(kind))
    return OpClass::Control;
  const bool barrier = kind == OpKind::Barrier || kind == OpKind::BarrierObject;
  return barrier ? OpClass::Barrier : OpClass::Memory;
}

}  // namespace

void Emitter::begin(u32 index) {
  RADDLE_ASSERT(index == start_.size());  // every instruction once, in order
  start_.push_back(static_cast<u32>(code_.records.size()));
  index_ = index;
  own_ = false;
  current_ = {};
}

Record& Emitter::emit(Op op, u32 d, u32 a, u32 b, u32 c, std::int32_t imm) {
  RADDLE_ASSERT(op < kOps);  // a table has no such form, and its user did not refuse
  code_.records.push_back({});
  Record& r = code_.records.back();
  r.op = op;
  r.inst = code_.first_instruction + index_ + (own_ ? 1 : 0);
  r.d = d;
  r.a = a;
  r.b = b;
  r.c = c;
  r.imm = imm;
  return r;
}

void Emitter::alu(Op op, u32 d, u32 a, u32 b, u32 c, u32 k) {
  emit(op, d, a, b, c, static_cast<std::int32_t>(k));
}

Record& Emitter::emit_own(Op op, OpKind kind) {
  RADDLE_ASSERT(!own_);  // the stream has one record of an instruction
  current_.kind = kind;
  if (kind != OpKind::Alu) current_.op_class = class_of(kind);
  Record& r = emit(op);
  own_ = true;
  return r;
}

Record& Emitter::last() {
  RADDLE_ASSERT(!code_.records.empty());
  return code_.records.back();
}

std::size_t Emitter::begin_guard(u32 predicate, bool negated) {
  Record& guard = emit(O_guard);
  guard.a = predicate;
  guard.d = negated ? ~0u : 0u;
  return code_.records.size() - 1;
}

void Emitter::end_guard(std::size_t guard) {
  RADDLE_ASSERT(code_.records[guard].op == O_guard);
  const bool own = own_;
  own_ = true;
  emit(O_unguard);
  Record& record = code_.records[guard];
  record.imm = own ? 0 : 1;
  record.aux = static_cast<u32>(code_.records.size() - guard);
}

void Emitter::jump(u32 target, u32 join) {
  RADDLE_ASSERT(!code_.records.empty());
  jumps_.push_back({code_.records.size() - 1, target, join});
}

void Emitter::patch_jumps() {
  RADDLE_ASSERT(!start_.empty());
  const u32 end = static_cast<u32>(start_.size() - 1);
  for (const Jump& jump : jumps_) {
    Record& record = code_.records[jump.record];
    const auto distance = [&](u32 to) {
      RADDLE_ASSERT(to <= end);
      return static_cast<std::int32_t>(start_[to]) - static_cast<std::int32_t>(jump.record);
    };
    if (record.op == O_brx) {
      auto& table = code_.branch_tables[static_cast<std::size_t>(record.imm)];
      for (std::int32_t& entry : table) entry = distance(static_cast<u32>(entry));
    } else if (record.op != O_call_indirect) {
      record.imm = distance(jump.target);
    }
    record.aux = static_cast<u32>(jump.join == end ? kNoJoin : distance(jump.join));
  }
}

void Emitter::emit_slow(std::unique_ptr<const SlowInstruction> instruction) {
  RADDLE_ASSERT(instruction != nullptr);
  emit(O_slow).imm = static_cast<std::int32_t>(code_.slow.size());
  code_.slow.push_back(std::move(instruction));
}

void Emitter::emit_slow_access(std::unique_ptr<const SlowInstruction> instruction, ptx::Space space,
                               bool store) {
  RADDLE_ASSERT(instruction != nullptr);
  const bool shared = space == ptx::Space::Shared;
  emit_own(O_slow_access, shared ? (store ? OpKind::StoreShared : OpKind::LoadShared)
                                 : (store ? OpKind::StoreGlobal : OpKind::LoadGlobal))
      .imm = static_cast<std::int32_t>(code_.slow.size());
  code_.slow.push_back(std::move(instruction));
  if (space == ptx::Space::Generic) generic_access();
}

}  // namespace raddle::exec
