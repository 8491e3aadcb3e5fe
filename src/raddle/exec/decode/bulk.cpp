// Bulk copies and what else tells a barrier object of bytes (PTX ISA 9.0, 9.7.9.25.5, 9.7.9.15,
// 9.7.13.8).
#include "raddle/exec/decode/bulk.h"

#include <algorithm>
#include <optional>

#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/atomic_words.h"
#include "raddle/exec/decode/tensor_copy.h"
#include "raddle/exec/slow/bulk_copy.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using trace::OpKind;

namespace {

bool names_shared(std::string_view word) {
  return word == "shared::cta" || word == "shared::cluster" || word == "shared";
}
/// The spaces of destination and source, in this order.
std::pair<Space, Space> spaces_of(const Instruction& inst) {
  std::vector<Space> spaces;
  for (const std::string_view word : inst.modifiers) {
    if (word == "global") spaces.push_back(Space::Global);
    if (names_shared(word)) spaces.push_back(Space::Shared);
  }
  if (spaces.size() != 2) refuse("state spaces");
  if (spaces[0] == Space::Global && spaces[1] == Space::Global) refuse("state spaces");
  return {spaces[0], spaces[1]};
}

bool group(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("commit_group")) copy_groups(ctx, trace::kEndsBulkGroup);
  else if (inst.has("wait_group"))
    copy_groups(ctx, inst.has("read") ? trace::kWaitsForBulkReads : trace::kWaitsForBulkGroups,
                groups_left(ctx));
  else return false;
  return true;
}

}  // namespace

/// All copies are done; the timing model waits for what it has of them.
void copy_groups(DecodeContext& ctx, std::uint8_t what, unsigned left) {
  ctx.out.current().bytes = static_cast<std::uint16_t>(what | left << trace::kGroupsLeft);
  ctx.out.emit_own(O_simple, OpKind::Fence);
}

unsigned groups_left(DecodeContext& ctx) {
  const ptx::Operand& operand = ctx.in.operand(0);
  if (operand.kind != Kind::Integer) refuse("immediate expected");
  return static_cast<unsigned>(std::min<u64>(operand.bits, trace::kMaxGroupsLeft));
}

SlowAddress address_in(DecodeContext& ctx, std::size_t operand, Space space) {
  return slow_address(ctx, space, ctx.in.operand(operand));
}

void emit_bulk(DecodeContext& ctx, std::unique_ptr<const SlowInstruction> made, OpKind kind,
               bool tells, trace::CopyKind copy) {
  const bool global =
      kind == OpKind::LoadGlobal || kind == OpKind::StoreGlobal || kind == OpKind::ReduceGlobal;
  ctx.out.current().bytes = 16;
  ctx.out.current().bypass_l1 = global;
  ctx.out.emit_slow_access(std::move(made), global ? Space::Global : Space::Shared,
                           kind != OpKind::LoadGlobal);
  ctx.out.current().kind = kind;
  ctx.out.current().copy = global ? copy : trace::CopyKind::None;
  if (tells) ctx.out.tells_objects();
}

u32 bulk_reduction(const Instruction& inst, Type type) {
  const std::optional<AtomOp> op = atomic_operation(inst);
  const std::optional<AtomType> as = atomic_type(type);
  if (!op || !as) refuse("reduction");
  if (*op == AtomOp::Exchange || *op == AtomOp::Compare) refuse("reduction");
  if (*as == AtomType::F16x2 || *as == AtomType::BF16x2 || *as == AtomType::B16)
    refuse("reduction");
  const bool half = type == Type::F16 || type == Type::BF16;
  const bool extreme = *op == AtomOp::Min || *op == AtomOp::Max;
  if (ptx::is_float(type) && *op != AtomOp::Add && !(half && extreme)) refuse("reduction");
  return static_cast<u32>(*op) | static_cast<u32>(*as) << 8;
}

void decode_bulk_copy(DecodeContext& ctx, const Instruction& inst) {
  if (group(ctx, inst)) return;
  if (inst.has("tensor")) return decode_tensor_copy(ctx, inst);
  if (inst.has("cp_mask") || inst.has("ignore_oob")) refuse();
  if (inst.has("prefetch")) {  // a hint, as the other prefetches
    address_in(ctx, 0, Space::Global);
    ctx.in.source(1, Type::U32);
    return ctx.out.op_class(trace::OpClass::Move);
  }
  const auto [to, from] = spaces_of(inst);
  auto made = std::make_unique<BulkCopy>();
  made->to = address_in(ctx, 0, to);
  made->from = address_in(ctx, 1, from);
  made->bytes = ctx.in.source(2, Type::U32);
  const bool notifies = inst.has("mbarrier::complete_tx::bytes");
  if (notifies == inst.has("bulk_group") || notifies != (to == Space::Shared)) refuse("completion");
  if (notifies) made->barrier = address_in(ctx, 3, Space::Shared);
  if (inst.has("multicast::cluster")) {
    if (from != Space::Global) refuse("multicast");
    made->blocks = ctx.in.source(4, Type::B16);
  }
  if (inst.has("reduce")) {
    if (from == Space::Global) refuse("state spaces");
    made->what = bulk_reduction(inst, ctx.in.type());
    made->element_bytes = ptx::size_of(ctx.in.type());
  }
  const OpKind kind = from == Space::Global ? OpKind::LoadGlobal
                      : to == Space::Shared ? OpKind::StoreShared
                      : made->what          ? OpKind::ReduceGlobal
                                            : OpKind::StoreGlobal;
  emit_bulk(ctx, std::move(made), kind, notifies);
}

void decode_remote_store(DecodeContext& ctx, const Instruction& inst) {
  if (!inst.has("mbarrier::complete_tx::bytes") || !inst.has("shared::cluster")) refuse();
  const Type type = ctx.in.type();
  auto made = std::make_unique<RemoteStore>();
  made->to = address_in(ctx, 0, Space::Shared);
  made->barrier = address_in(ctx, 2, Space::Shared);
  made->size = ptx::size_of(type);
  const ptx::Operand& data = ctx.in.operand(1);
  const bool vector = data.kind == Kind::Vector;
  if (made->size != 4 && made->size != 8) refuse("type");
  if (vector && (inst.opcode == "red" || data.elements.size() > 4)) refuse("vector");
  if (vector)
    for (const ptx::Operand& element : data.elements)
      made->values.push_back(ctx.in.source(element, type));
  else made->values.push_back(ctx.in.source(data, type));
  if (inst.opcode == "red") made->what = bulk_reduction(inst, type);
  emit_bulk(ctx, std::move(made), OpKind::StoreShared, true);
}

void decode_bulk_clear(DecodeContext& ctx, const Instruction& /*inst*/) {
  auto made = std::make_unique<BulkClear>();
  made->to = address_in(ctx, 0, Space::Shared);
  made->bytes = ctx.in.source(1, Type::U64);
  if (ctx.in.operand(2).kind != Kind::Integer || ctx.in.operand(2).bits != 0) refuse("value");
  emit_bulk(ctx, std::move(made), OpKind::StoreShared, false);
}

}  // namespace raddle::exec
