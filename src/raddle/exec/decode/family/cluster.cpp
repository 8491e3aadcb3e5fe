// Clusters of blocks (PTX ISA 9.7.13.4: barrier.cluster; 9.7.9: mapa, getctarank). The rank of the
// block that an address of shared memory means lies in the address itself, see kRankShift.
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Type;
using Kind = ptx::Operand::Kind;

void Decoder::cluster_barrier(const Inst& inst) {
  const BarOp op = inst.has("arrive") ? BarOp::ClusterArrive : BarOp::ClusterWait;
  emit_own(O_bar, trace::OpKind::Barrier).imm = static_cast<std::int32_t>(op);
}

/// The same place in the shared memory of the block of rank b.
void Decoder::mapa(const Inst& inst) {
  op_class(trace::OpClass::Int);
  const Type t = type();
  const unsigned width = ptx::size_of(t);
  const bool wide = width == 8;
  const bool generic = !inst.has("shared::cluster");
  if (generic && !wide) refuse("32-bit generic address");
  const u32 rank = source(operand(2), Type::U32), d = destination(operand(0), t);
  const u32 a = source(operand(1), t), place = temporary(), next = temporary();
  constexpr u64 kOffset = (u64{1} << kRankShift) - 1;
  alu(wide ? O_and_64 : O_and_32, place, a, constant(width, kOffset));
  alu(O_add_32, next, rank, constant(4, 1));
  u32 base = temporary();
  alu(O_shl_32, base, next, constant(4, kRankShift));
  if (wide) base = resize(base, 4, 8, false);
  alu(wide ? O_add_64 : O_add_32, place, place, base);
  if (generic) alu(O_add_64, d, place, constant(8, kSharedWindow));
  else alu(wide ? O_mov_64 : O_mov_32, d, place);
}

/// Of the block whose shared memory the address means.
void Decoder::getctarank(const Inst& inst) {
  (void)inst;
  op_class(trace::OpClass::Int);
  const Type t = type();
  u32 a = source(operand(1), t);
  if (ptx::size_of(t) == 8) a = resize(a, 8, 4, false);  // the window lies above 32 bits
  const u32 field = temporary(), rank = temporary(), own = temporary_predicate();
  alu(O_shr_u32, field, a, constant(4, kRankShift));
  alu(O_sub_32, rank, field, constant(4, 1));
  emit(O_eq_32, own, field, constant(4, 0));
  ptx::Operand mine;
  mine.special = ptx::Special::ClusterCtarank;
  emit(O_selp_32, destination(operand(0), Type::B32), special(mine, 4), rank, own);
}

}  // namespace raddle::exec
