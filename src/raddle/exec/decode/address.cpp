#include "raddle/exec/decode/address.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = ptx::Operand::Kind;
using ptx::Space;

namespace {

/// [register + offset].
SlowAddress in_register(DecodeContext& ctx, Space space, const ptx::Operand& operand) {
  SlowAddress address{.space = space, .at = ctx.frame.register_at(operand.reg)};
  const unsigned width = ctx.frame.register_width(operand.reg);
  address.narrow = width == 4;
  address.offset = operand.offset;
  if (width != 4 && width != 8) refuse(std::to_string(8 * width) + "-bit address");
  const bool may_be_narrow = space == Space::Shared || space == Space::Local;
  if (address.narrow && !may_be_narrow) {
    address.at = ctx.in.resize(address.at, 4, 8, false);
    address.narrow = false;
  }
  if (address.offset != static_cast<std::int32_t>(address.offset)) refuse("address offset");
  return address;
}

}  // namespace

Space space_of(const ptx::Instruction& inst) {
  if (inst.has("global")) return Space::Global;
  if (inst.has("shared::cluster")) return Space::Shared;
  if (inst.has("shared") || inst.has("shared::cta")) return Space::Shared;
  if (inst.has("local")) return Space::Local;
  if (inst.has("const")) return Space::Const;
  if (inst.has("param") || inst.has("param::entry") || inst.has("param::func")) return Space::Param;
  return Space::Generic;
}

SlowAddress address_of(DecodeContext& ctx, Space space, const ptx::Operand& operand) {
  if (operand.kind != Kind::Address || !operand.elements.empty()) refuse("address");
  if (operand.reg != ptx::kNoIndex) return in_register(ctx, space, operand);
  if (operand.symbol.scope == ptx::SymbolRef::Scope::None)
    return {.space = space, .at = ctx.frame.constant(8, static_cast<u64>(operand.offset))};
  const Space lies = ctx.in.symbol_space(operand);
  if (lies != space && (space != Space::Generic || lies == Space::Param))
    refuse("the variable lies in another state space");
  if (const auto value = ctx.in.symbol_value(operand)) {
    const u32 at = ctx.frame.constant(8, *value);
    // A symbol without a space in the opcode: a generic access by name.
    if (space == Space::Generic && *value < DeviceMemory::kBase)
      refuse("generic address of a symbol");
    return {.space = space, .at = at};
  }
  return {.space = space, .at = ctx.in.local_address(operand, 8)};
}
SlowAddress address_of(DecodeContext& ctx, const ptx::Instruction& inst,
                       const ptx::Operand& operand) {
  return address_of(ctx, space_of(inst), operand);
}

SlowAddress slow_address(DecodeContext& ctx, Space space, const ptx::Operand& operand) {
  if (space != Space::Global && space != Space::Shared && space != Space::Generic) refuse();
  return address_of(ctx, space, operand);
}
SlowAddress slow_address(DecodeContext& ctx, const ptx::Instruction& inst,
                         const ptx::Operand& operand) {
  return slow_address(ctx, space_of(inst), operand);
}

}  // namespace raddle::exec
