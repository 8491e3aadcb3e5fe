// Changes of tensor maps (PTX ISA 9.0, 9.7.9.28, 9.7.13.17).
#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/bulk.h"
#include "raddle/exec/slow/tensor_copy.h"

namespace raddle::exec {

using Kind = ptx::Operand::Kind;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;
using trace::OpKind;

namespace {

void replace(DecodeContext& ctx, const Instruction& inst) {
  using Field = TensorMapChange::Field;
  struct Form {
    std::string_view name;
    Field field;
    bool of_dimension;
  };
  static constexpr Form kForms[] = {{"global_address", Field::Address, false},
                                    {"rank", Field::Rank, false},
                                    {"box_dim", Field::Box, true},
                                    {"global_dim", Field::Size, true},
                                    {"global_stride", Field::Stride, true},
                                    {"element_stride", Field::Step, true},
                                    {"elemtype", Field::Element, false},
                                    {"interleave_layout", Field::Interleave, false},
                                    {"swizzle_mode", Field::Swizzle, false},
                                    {"fill_mode", Field::Fill, false}};
  if (!inst.has("tile")) refuse();
  for (const Form& form : kForms) {
    if (!inst.has(form.name)) continue;
    auto made = std::make_unique<TensorMapChange>();
    made->field = form.field;
    made->map = slow_address(ctx, inst, ctx.in.operand(0));
    if (form.of_dimension) {
      const ptx::Operand& dimension = ctx.in.operand(1);
      const std::size_t maximum = form.field == Field::Stride ? 3 : 4;
      if (dimension.kind != Kind::Integer || dimension.bits > maximum) refuse("dimension");
      made->dimension = static_cast<unsigned>(dimension.bits);
    }
    const bool wide = form.field == Field::Address || form.field == Field::Stride;
    made->value = ctx.in.source(form.of_dimension ? 2 : 1, wide ? Type::B64 : Type::B32);
    ctx.out.current().bytes = 16;
    const Space space = made->map.space;
    return ctx.out.emit_slow_access(std::move(made), space, true);
  }
  refuse();
}

void copy_map(DecodeContext& ctx, const Instruction& /*inst*/) {
  const ptx::Operand& size = ctx.in.operand(2);
  if (size.kind != Kind::Integer || size.bits != sizeof(TensorMap)) refuse("size");
  auto made = std::make_unique<TensorMapCopy>();
  made->to = address_in(ctx, 0, Space::Global);
  made->from = address_in(ctx, 1, Space::Shared);
  emit_bulk(ctx, std::move(made), OpKind::StoreGlobal, false);
}

void tensormap(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("replace")) return replace(ctx, inst);
  if (inst.has("cp_fenceproxy")) return copy_map(ctx, inst);
  refuse();
}

}  // namespace

void add_decode_tensormap(Handlers& handlers) { handlers.add({"tensormap"}, tensormap); }

}  // namespace raddle::exec
