// Clusters of blocks (PTX ISA 9.7.9: mapa, getctarank). The rank of the
// block that an address of shared memory means lies in the address itself, see kRankShift.
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Instruction;
using ptx::Type;

namespace {

/// The same offset in the shared memory of the block of rank b.
void mapa(DecodeContext& ctx, const Instruction& inst) {
  ctx.out.op_class(trace::OpClass::Int);
  const Type t = ctx.in.type();
  const unsigned width = ptx::size_of(t);
  const bool wide = width == 8;
  const bool generic = !inst.has("shared::cluster");
  if (generic && !wide) refuse("32-bit generic address");
  const u32 rank = ctx.in.source(2, Type::U32), d = ctx.in.destination(0, t);
  const u32 a = ctx.in.source(1, t), within = ctx.frame.temporary(), next = ctx.frame.temporary();
  constexpr u64 kOffset = (u64{1} << kRankShift) - 1;
  ctx.out.alu(wide ? O_and_64 : O_and_32, within, a, ctx.frame.constant(width, kOffset));
  ctx.out.alu(O_add_32, next, rank, ctx.frame.constant(4, 1));
  u32 base = ctx.frame.temporary();
  ctx.out.alu(O_shl_32, base, next, ctx.frame.constant(4, kRankShift));
  if (wide) base = ctx.in.resize(base, 4, 8, false);
  ctx.out.alu(wide ? O_add_64 : O_add_32, within, within, base);
  if (generic) ctx.out.alu(O_add_64, d, within, ctx.frame.constant(8, kSharedWindow));
  else ctx.out.alu(wide ? O_mov_64 : O_mov_32, d, within);
}

/// Of the block whose shared memory the address means.
void getctarank(DecodeContext& ctx, const Instruction& /*inst*/) {
  ctx.out.op_class(trace::OpClass::Int);
  const Type t = ctx.in.type();
  u32 a = ctx.in.source(1, t);
  if (ptx::size_of(t) == 8) a = ctx.in.resize(a, 8, 4, false);  // the window lies above 32 bits
  const u32 field = ctx.frame.temporary(), rank = ctx.frame.temporary(),
            own = ctx.frame.temporary_predicate();
  ctx.out.alu(O_shr_u32, field, a, ctx.frame.constant(4, kRankShift));
  ctx.out.alu(O_sub_32, rank, field, ctx.frame.constant(4, 1));
  ctx.out.emit(O_eq_32, own, field, ctx.frame.constant(4, 0));
  ptx::Operand mine;
  mine.special = ptx::Special::ClusterCtarank;
  ctx.out.emit(O_selp_32, ctx.in.destination(0, Type::B32), ctx.in.special(mine, 4), rank, own);
}

}  // namespace

void add_decode_cluster(Handlers& handlers) {
  handlers.add({"mapa"}, mapa);
  handlers.add({"getctarank"}, getctarank);
}

}  // namespace raddle::exec
