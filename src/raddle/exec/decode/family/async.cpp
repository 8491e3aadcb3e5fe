// Asynchronous copies, barrier objects and elections (PTX ISA 9.0, 9.7.9.25, 9.7.13.13 and .15).
#include <bit>

#include "raddle/exec/decode/decode_slow.h"
#include "raddle/exec/slow/async.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using ptx::Space;
using ptx::Type;
using trace::OpKind;

/// An address of shared memory, or a generic one where the instruction names no space.
SlowAddress Decoder::object_address(const Inst& inst, const ptx::Operand& operand) {
  SlowAddress a = slow_address(inst, operand);
  if (a.space == Space::Global) refuse();
  return a;
}

void Decoder::async_copy(const Inst& inst) {
  if (!inst.has("async") || inst.has("bulk") || inst.has("reduce")) refuse();
  if (inst.has("mbarrier")) return barrier_object(inst);
  if (inst.has("commit_group")) return op_class(trace::OpClass::Control);
  if (inst.has("wait_group") || inst.has("wait_all")) {
    // Waits for all groups, also where some may stay under way; for stores as well.
    emit_own(O_simple, OpKind::Fence);
    return;
  }
  const bool bypass = inst.has("cg");
  if (!inst.has("global") || (!bypass && !inst.has("ca"))) refuse();
  if (operand(2).kind != Kind::Integer) refuse("immediate expected");
  auto made = std::make_unique<AsyncCopy>();
  made->bytes = static_cast<unsigned>(operand(2).bits);
  const bool fits = made->bytes == 16 || (!bypass && (made->bytes == 4 || made->bytes == 8));
  if (!fits) refuse("number of bytes");
  made->to = slow_address(inst, operand(0));
  made->from = slow_address(inst, operand(1));
  made->to.space = Space::Shared;
  made->from.space = Space::Global;
  const std::size_t policy = inst.has("L2::cache_hint") ? 1 : 0;
  if (inst.operands.size() > 3 + policy) {
    const ptx::Operand& o = operand(3);
    const bool is_predicate =
        o.kind == Kind::Register && function_.registers[o.reg].type == Type::Pred;
    if (is_predicate) {
      const Pred p = predicate(o);
      made->ignore = p.offset;
      made->ignore_negated = p.negated;
    } else {
      made->source_bytes = source(o, Type::U32);
    }
  }
  current_.bytes = static_cast<std::uint8_t>(made->bytes);
  current_.bypass_l1 = bypass;
  emit_slow_access(std::move(made), Space::Global, false);
}

void Decoder::barrier_object(const Inst& inst) {
  using Action = BarrierObject::Action;
  static constexpr std::pair<std::string_view, Action> kActions[] = {
      {"init", Action::Init},          {"inval", Action::Inval},
      {"expect_tx", Action::ExpectTx}, {"complete_tx", Action::CompleteTx},
      {"arrive", Action::Arrive},      {"arrive_drop", Action::Arrive},
      {"test_wait", Action::TestWait}, {"try_wait", Action::TestWait}};
  if (inst.has("pending_count")) return pending_count(inst);
  auto made = std::make_unique<BarrierObject>();
  const bool copies = inst.opcode == "cp";
  std::optional<Action> action;
  for (std::string_view word : inst.modifiers)
    for (const auto& [name, a] : kActions)
      if (!action && word == name) action = a;
  if (!action) refuse();
  made->action = *action;
  if (*action == Action::Arrive && inst.has("expect_tx")) made->action = Action::ArriveExpectTx;
  if (copies) made->action = inst.has("noinc") ? Action::Arrive : Action::ArriveCopies;
  if (*action == Action::TestWait && inst.has("parity")) made->action = Action::TestParity;
  made->drops = inst.has("arrive_drop");
  const bool tests = *action == Action::TestWait;
  const bool returns = operand(0).kind != Kind::Address;
  const std::size_t at = returns ? 1 : 0;
  if (returns && tests) made->result = predicate(operand(0)).offset;
  else if (returns && operand(0).kind != Kind::Sink)
    made->result = destination(operand(0), Type::B64);
  made->address = object_address(inst, operand(at));
  const bool given = inst.operands.size() > at + 1;
  const Type wanted = made->action == Action::TestWait ? Type::B64 : Type::U32;
  if (!given && (tests || made->action == Action::ArriveExpectTx)) refuse("too few operands");
  made->operand = given ? source(operand(at + 1), wanted) : constant(4, 1);
  const bool store = *action == Action::Init || *action == Action::Inval;
  current_.bytes = 8;
  emit_slow_access(std::move(made), Space::Shared, store);
  if (!store && !tests) current_.kind = OpKind::AtomicShared;
}

void Decoder::pending_count(const Inst& inst) {
  (void)inst;
  op_class(trace::OpClass::Int);
  auto made = std::make_unique<PendingCount>();
  made->state = source(operand(1), Type::B64);
  made->d = destination(operand(0), Type::B32);
  emit_slow(std::move(made));
}

void Decoder::elect(const Inst& inst) {
  (void)inst;
  op_class(trace::OpClass::Int);
  auto made = std::make_unique<Election>();
  const ptx::Operand& d = operand(0);
  made->members = source(operand(1), Type::U32);
  made->d = destination(d, Type::B32);
  made->elected =
      d.kind == Kind::Predicates && d.reg2 != ptx::kNoIndex ? predicate_register(d.reg2) : 0;
  emit_slow(std::move(made));
}

}  // namespace raddle::exec
