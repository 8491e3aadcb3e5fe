// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor (PTX ISA 9.0,
// 9.7.9.27).
#include "raddle/exec/decode/tensor_copy.h"

#include <array>

#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/atomic_words.h"
#include "raddle/exec/decode/bulk.h"
#include "raddle/exec/slow/tensor_copy.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using trace::OpKind;

namespace {

std::size_t dimensions_of(const Instruction& inst) {
  static constexpr std::string_view kDimensions[] = {"1d", "2d", "3d", "4d", "5d"};
  for (std::size_t i = 0; i < std::size(kDimensions); ++i)
    if (inst.has(kDimensions[i])) return i + 1;
  refuse("dimensions");
}

/// [map, {coordinates}].
void map_and_coordinates(DecodeContext& ctx, const Instruction& inst, std::size_t at,
                         TensorCopy& made) {
  const ptx::Operand& written = ctx.in.operand(at);
  ptx::Operand address = written;
  address.elements.clear();
  made.map = slow_address(ctx, Space::Generic, address);
  if (made.map.narrow) refuse("32-bit generic address");
  const bool grouped = written.elements.size() == 1 && written.elements[0].kind == Kind::Vector;
  const auto& list = grouped ? written.elements[0].elements : written.elements;
  if (list.size() != dimensions_of(inst)) refuse("number of coordinates");
  for (const ptx::Operand& o : list) made.coordinates.push_back(ctx.in.source(o, Type::B32));
}

void im2col_offsets(DecodeContext& ctx, std::size_t at, TensorCopy& made) {
  const ptx::Operand& written = ctx.in.operand(at);
  const std::size_t count = made.coordinates.size() - 2;
  if (written.kind == Kind::Vector)
    for (const ptx::Operand& o : written.elements)
      made.offsets.push_back(ctx.in.source(o, Type::B16));
  else made.offsets.push_back(ctx.in.source(written, Type::B16));
  if (made.offsets.size() != count) refuse("number of offsets");
}

AtomOp reduction_of(const Instruction& inst) {
  const std::optional<AtomOp> op = atomic_operation(inst);
  if (!op || *op == AtomOp::Exchange || *op == AtomOp::Compare) refuse("reduction");
  return *op;
}

}  // namespace

void decode_tensor_copy(DecodeContext& ctx, const Instruction& inst) {
  for (std::string_view word : inst.modifiers)
    if (word.starts_with("tile::") || word.starts_with("im2col::") ||
        word.starts_with("cta_group::"))
      refuse();
  auto made = std::make_unique<TensorCopy>();
  made->im2col = inst.has("im2col") || inst.has("im2col_no_offs");
  if (made->im2col && dimensions_of(inst) < 3) refuse("dimensions");
  if (inst.has("prefetch")) {  // a hint, as the other prefetches
    map_and_coordinates(ctx, inst, 0, *made);
    return ctx.out.op_class(trace::OpClass::Move);
  }
  if (inst.has("bulk_group")) {
    const bool reduces = inst.has("reduce");
    made->action = reduces ? TensorCopy::Action::Reduce : TensorCopy::Action::Store;
    if (reduces) made->op = reduction_of(inst);
    map_and_coordinates(ctx, inst, 0, *made);
    made->shared = address_in(ctx, 1, Space::Shared);
    return emit_bulk(ctx, std::move(made), reduces ? OpKind::ReduceGlobal : OpKind::StoreGlobal,
                     false, trace::CopyKind::Tensor);
  }
  if (!inst.has("mbarrier::complete_tx::bytes")) refuse("completion");
  made->shared = address_in(ctx, 0, Space::Shared);
  map_and_coordinates(ctx, inst, 1, *made);
  made->barrier = address_in(ctx, 2, Space::Shared);
  std::size_t at = 3;
  if (made->im2col) im2col_offsets(ctx, at++, *made);
  if (inst.has("multicast::cluster")) made->blocks = ctx.in.source(at++, Type::B16);
  emit_bulk(ctx, std::move(made), OpKind::LoadGlobal, true, trace::CopyKind::Tensor);
}

}  // namespace raddle::exec
