// Asynchronous copies, barrier objects and elections (PTX ISA 9.0, 9.7.9.25, 9.7.13.13 and .15).
#include <algorithm>
#include <bit>

#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/bulk.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/slow/async.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using trace::OpKind;

namespace {

/// An address of shared memory, or a generic one where the instruction names no space.
SlowAddress object_address(DecodeContext& ctx, const Instruction& inst,
                           const ptx::Operand& operand) {
  if (ctx.in.symbol_space(operand) == Space::Global) refuse("a barrier object in global memory");
  return slow_address(ctx, inst, operand);
}

void pending_count(DecodeContext& ctx) {
  ctx.out.op_class(trace::OpClass::Int);
  auto made = std::make_unique<PendingCount>();
  made->state = ctx.in.source(1, Type::B64);
  made->d = ctx.in.destination(0, Type::B32);
  ctx.out.emit_slow(std::move(made));
}

/// What the timing model sees of it; `copies`: an arrival of cp.async's.
trace::ObjectAction timed_action(const BarrierObject& made, bool copies) {
  using Action = BarrierObject::Action;
  using Timed = trace::ObjectAction;
  switch (made.action) {
    case Action::Init:
    case Action::Inval:
      return Timed::Init;
    case Action::CompleteTx:
      return Timed::Come;
    case Action::ArriveCopies:
      return Timed::Copies;
    case Action::TestWait:
    case Action::TestParity:
      return Timed::Wait;
    default:
      return copies ? Timed::Copied : made.drops ? Timed::Drop : Timed::Arrive;
  }
}

void barrier_object(DecodeContext& ctx, const Instruction& inst) {
  using Action = BarrierObject::Action;
  static constexpr std::pair<std::string_view, Action> kActions[] = {
      {"init", Action::Init},          {"inval", Action::Inval},
      {"expect_tx", Action::ExpectTx}, {"complete_tx", Action::CompleteTx},
      {"arrive", Action::Arrive},      {"arrive_drop", Action::Arrive},
      {"test_wait", Action::TestWait}, {"try_wait", Action::TestWait}};
  if (inst.has("pending_count")) return pending_count(ctx);
  auto made = std::make_unique<BarrierObject>();
  const bool copies = inst.opcode == "cp";
  std::optional<Action> action;
  for (std::string_view word : inst.modifiers)
    for (const auto& [name, known] : kActions)
      if (!action && word == name) action = known;
  if (!action) refuse();
  made->action = *action;
  if (*action == Action::Arrive && inst.has("expect_tx")) made->action = Action::ArriveExpectTx;
  if (copies) made->action = inst.has("noinc") ? Action::Arrive : Action::ArriveCopies;
  if (*action == Action::TestWait && inst.has("parity")) made->action = Action::TestParity;
  made->drops = inst.has("arrive_drop");
  const bool tests = *action == Action::TestWait;
  const bool returns = ctx.in.operand(0).kind != Kind::Address;
  const std::size_t at = returns ? 1 : 0;
  if (returns && tests) made->result = ctx.in.predicate(0).offset;
  else if (returns && ctx.in.operand(0).kind != Kind::Sink)
    made->result = ctx.in.destination(0, Type::B64);
  made->address = object_address(ctx, inst, ctx.in.operand(at));
  const bool given = inst.operands.size() > at + 1;
  const Type wanted = made->action == Action::TestWait ? Type::B64 : Type::U32;
  if (!given && (tests || made->action == Action::ArriveExpectTx)) refuse("too few operands");
  made->operand = given ? ctx.in.source(at + 1, wanted) : ctx.frame.constant(4, 1);
  made->timed = timed_action(*made, copies);
  const trace::ObjectAction timed = made->timed;
  ctx.out.emit_slow_access(std::move(made), Space::Shared, true);
  ctx.out.current().kind = OpKind::BarrierObject;
  ctx.out.op_class(trace::OpClass::Barrier);
  ctx.out.current().bytes = static_cast<std::uint16_t>(timed);
}

void async_copy(DecodeContext& ctx, const Instruction& inst) {
  if (!inst.has("async")) refuse();
  if (inst.has("bulk")) return decode_bulk_copy(ctx, inst);
  if (inst.has("reduce")) refuse();
  if (inst.has("mbarrier")) return barrier_object(ctx, inst);
  if (inst.has("commit_group")) return copy_groups(ctx, trace::kEndsGroup);
  if (inst.has("wait_all")) return copy_groups(ctx, trace::kWaitsForCopies);
  if (inst.has("wait_group")) return copy_groups(ctx, trace::kWaitsForGroups, groups_left(ctx));
  if (std::ranges::find(inst.modifiers, "global") <
      std::ranges::find_if(inst.modifiers, [](auto word) { return word.starts_with("shared"); }))
    refuse("state spaces");
  const bool bypass = inst.has("cg");
  if (!inst.has("global") || (!bypass && !inst.has("ca"))) refuse();
  if (ctx.in.operand(2).kind != Kind::Integer) refuse("immediate expected");
  auto made = std::make_unique<AsyncCopy>();
  made->bytes = static_cast<unsigned>(ctx.in.operand(2).bits);
  const bool fits = made->bytes == 16 || (!bypass && (made->bytes == 4 || made->bytes == 8));
  if (!fits) refuse("number of bytes");
  made->to = slow_address(ctx, Space::Shared, ctx.in.operand(0));
  made->from = slow_address(ctx, Space::Global, ctx.in.operand(1));
  const std::size_t policy = inst.has("L2::cache_hint") ? 1 : 0;
  if (inst.operands.size() > 3 + policy) {
    const ptx::Operand& third = ctx.in.operand(3);
    const bool is_predicate =
        third.kind == Kind::Register && ctx.function.registers[third.reg].type == Type::Pred;
    if (is_predicate) {
      const Operands::Predicate ignored = ctx.in.predicate(third);
      made->ignore = ignored.offset;
      made->ignore_negated = ignored.negated;
    } else {
      made->source_bytes = ctx.in.source(third, Type::U32);
    }
  }
  ctx.out.current().bytes = static_cast<std::uint8_t>(made->bytes);
  ctx.out.current().bypass_l1 = bypass;
  ctx.out.emit_slow_access(std::move(made), Space::Global, false);
}

void elect(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(trace::OpClass::Int);
  auto made = std::make_unique<Election>();
  const ptx::Operand& d = ctx.in.operand(0);
  made->members = ctx.in.source(1, Type::U32);
  made->d = ctx.in.destination(d, Type::B32);
  made->elected = ctx.in.second_predicate(d);
  ctx.out.emit_slow(std::move(made));
}

}  // namespace

void add_decode_async(Handlers& handlers) {
  handlers.add({"cp"}, async_copy);
  handlers.add({"mbarrier"}, barrier_object);
  handlers.add({"elect"}, elect);
}

}  // namespace raddle::exec
