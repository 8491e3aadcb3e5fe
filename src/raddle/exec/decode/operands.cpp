// Operands of an instruction as frame offsets.
#include <bit>
#include <cmath>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = ptx::Operand::Kind;

std::uint64_t function_address(u32 module_index) { return kCodeWindow + 16 * u64{module_index}; }

namespace {
/// Bytes of the register that holds a value; 8-bit values live in 16-bit registers.
unsigned register_bytes(ptx::Type type) { return std::max(2u, ptx::size_of(type)); }
u64 float_bits(double value, ptx::Type type) {
  if (type == ptx::Type::F32) return std::bit_cast<u32>(static_cast<float>(value));
  return std::bit_cast<u64>(value);
}
}  // namespace

const ptx::Operand& Decoder::operand(std::size_t i) const {
  if (i >= inst_->operands.size()) refuse("too few operands");
  return inst_->operands[i];
}
ptx::Type Decoder::type(std::size_t i) const {
  if (i >= inst_->types.size()) refuse("type missing");
  return inst_->types[i];
}
unsigned Decoder::register_width(u32 reg) const {
  return register_bytes(function_.registers[reg].type);
}

u32 Decoder::temporary() {
  if (temporaries_used_ == 24) refuse("too many intermediate values");
  return temporaries_at_ + 256 * temporaries_used_++;
}
u32 Decoder::temporary_predicate() {
  if (predicates_used_ == 7) refuse("too many intermediate predicates");
  return predicate_temporaries_at_ + 4 * ++predicates_used_;
}
u32 Decoder::constant(unsigned width, u64 value) {
  if (width < 8) value &= (u64{1} << 8 * width) - 1;
  auto [at, fresh] = constants_.try_emplace({width, value}, code_.frame_bytes);
  if (fresh) {
    code_.fills.push_back(
        {Fill::Kind::Value, static_cast<std::uint8_t>(width), code_.frame_bytes, value});
    code_.frame_bytes += width == 8 ? 256 : 128;
  }
  return at->second;
}

u32 Decoder::special(const ptx::Operand& operand, unsigned width) {
  using S = ptx::Special;
  const S s = operand.special;
  if (s == S::Clock || s == S::ClockHi || s == S::Clock64 || s == S::GlobalTimer ||
      s == S::GlobalTimerLo || s == S::GlobalTimerHi) {
    const u32 t = temporary();
    Record& r = emit(O_clock, t);
    r.imm = s == S::ClockHi || s == S::GlobalTimerHi ? 1 : 0;
    r.aux = width;
    return t;
  }
  auto [at, fresh] = specials_.try_emplace(
      {static_cast<unsigned>(s) << 8 | operand.special_index, width}, code_.frame_bytes);
  if (fresh) {
    code_.fills.push_back({Fill::Kind::Special, static_cast<std::uint8_t>(width), code_.frame_bytes,
                           operand.special_index, s});
    code_.frame_bytes += width == 8 ? 256 : 128;
  }
  return at->second;
}

/// The value of an address, if it is the same wherever the function runs.
std::optional<u64> Decoder::symbol_value(const ptx::Operand& operand) {
  const u64 offset = static_cast<u64>(operand.offset);
  using Scope = ptx::SymbolRef::Scope;
  switch (operand.symbol.scope) {
    case Scope::Module: {
      const ptx::Variable& v = module_.variables[operand.symbol.index];
      if (v.space == ptx::Space::Shared)
        return scope_.shared->module[operand.symbol.index] + offset;
      if (v.space != ptx::Space::Global && v.space != ptx::Space::Const)
        refuse("address of " + v.name);
      return scope_.layout->variables[operand.symbol.index] + offset;
    }
    case Scope::Function: {
      const ptx::Variable& v = function_.variables[operand.symbol.index];
      if (v.space == ptx::Space::Param) refuse("address of a call's parameter");
      if (v.space == ptx::Space::Local && !function_.is_entry) return std::nullopt;
      return variable_at_[operand.symbol.index] + offset;
    }
    case Scope::Parameter:
      if (!function_.is_entry) refuse("address of a function's parameter");
      return scope_.parameters->items[operand.symbol.index].offset + offset;
    case Scope::Code:
      return function_address(operand.symbol.index) + offset;
    default:
      refuse("address");
  }
}

u64 Decoder::immediate(const ptx::Operand& operand, Type type) const {
  const bool is_float = type == Type::F32 || type == Type::F64;
  if (operand.kind == Kind::Integer) {
    if (!is_float) return operand.bits;
    return float_bits(operand.is_unsigned
                          ? static_cast<double>(operand.bits)
                          : static_cast<double>(static_cast<std::int64_t>(operand.bits)),
                      type);
  }
  if (operand.kind == Kind::Float32) {
    const float value = std::bit_cast<float>(static_cast<u32>(operand.bits));
    return type == Type::F64 ? std::bit_cast<u64>(static_cast<double>(value)) : operand.bits;
  }
  const bool narrow = ptx::size_of(type) == 4;
  return narrow ? float_bits(std::bit_cast<double>(operand.bits), Type::F32) : operand.bits;
}

u32 Decoder::resize(u32 offset, unsigned from, unsigned to, bool is_signed) {
  if (from == to) return offset;
  static constexpr struct {
    unsigned from, to;
    Op sign, zero;
  } kOps[] = {{2, 4, O_sext_16_32, O_zext_16_32},   {2, 8, O_sext_16_64, O_zext_16_64},
              {4, 8, O_sext_32_64, O_zext_32_64},   {4, 2, O_trunc_32_16, O_trunc_32_16},
              {8, 2, O_trunc_64_16, O_trunc_64_16}, {8, 4, O_trunc_64_32, O_trunc_64_32}};
  for (const auto& o : kOps)
    if (o.from == from && o.to == to) {
      const u32 t = temporary();
      alu(is_signed ? o.sign : o.zero, t, offset);
      return t;
    }
  refuse("operand size");
}

u32 Decoder::source(const ptx::Operand& operand, Type type) {
  const unsigned width = register_bytes(type);
  if (width > 8) refuse("128-bit values");
  switch (operand.kind) {
    case Kind::Register:
      if (operand.has_selector) refuse();
      if (function_.registers[operand.reg].type == Type::Pred) refuse("predicate as a value");
      return resize(register_at_[operand.reg], register_width(operand.reg), width,
                    ptx::is_signed(type));
    case Kind::Integer:
    case Kind::Float32:
    case Kind::Float64:
      return constant(width, immediate(operand, type));
    case Kind::Special:
      return special(operand, width);
    case Kind::Symbol: {
      if (const auto value = symbol_value(operand)) return constant(width, *value);
      const u32 t = temporary();
      Record& r = emit(O_local_address, t);
      r.imm = static_cast<std::int32_t>(variable_at_[operand.symbol.index] + operand.offset);
      r.aux = width;
      return t;
    }
    default:
      refuse("operand");
  }
}

u32 Decoder::destination(const ptx::Operand& operand, Type type) {
  const unsigned width = register_bytes(type);
  if (width > 8) refuse("128-bit values");
  if (operand.kind == Kind::Sink) return trash_at_;
  if (operand.kind == Kind::Predicates && operand.reg == ptx::kNoIndex) return trash_at_;
  if (operand.kind != Kind::Register && operand.kind != Kind::Predicates) refuse("destination");
  if (register_width(operand.reg) != width) refuse("destination register of another size");
  return register_at_[operand.reg];
}

Decoder::Pred Decoder::predicate(const ptx::Operand& operand) {
  if (operand.kind == Kind::Integer) return {operand.bits != 0 ? 0 : false_at_, false};
  if (operand.kind != Kind::Register || function_.registers[operand.reg].type != Type::Pred)
    refuse("predicate expected");
  return {register_at_[operand.reg], operand.negated};
}

u32 Decoder::predicate_value(const ptx::Operand& operand) {
  const Pred p = predicate(operand);
  if (!p.negated) return p.offset;
  const u32 t = temporary_predicate();
  emit(O_pred_logic, t, p.offset, p.offset, 0, 1);
  return t;
}

}  // namespace raddle::exec
