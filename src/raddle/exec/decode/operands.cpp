#include "raddle/exec/decode/operands.h"

#include <bit>

#include "raddle/base/error.h"
#include "raddle/exec/decode/refusal.h"
#include "raddle/exec/decode/syntax.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Kind = ptx::Operand::Kind;
using ptx::Type;

void refuse(const std::string& why) { throw Refusal{why}; }

u64 function_address(u32 module_index) { return kCodeWindow + 16 * u64{module_index}; }

namespace {

u64 float_bits(double value, Type type) {
  if (type == Type::F32) return std::bit_cast<u32>(static_cast<float>(value));
  return std::bit_cast<u64>(value);
}

/// The bits of a constant as a value of `type`.
u64 immediate(const ptx::Operand& operand, Type type) {
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
  RADDLE_ASSERT(operand.kind == Kind::Float64);
  const bool narrow = ptx::size_of(type) == 4;
  return narrow ? float_bits(std::bit_cast<double>(operand.bits), Type::F32) : operand.bits;
}

bool is_clock(ptx::Special special) {
  using S = ptx::Special;
  return special == S::Clock || special == S::ClockHi || special == S::Clock64 ||
         special == S::GlobalTimer || special == S::GlobalTimerLo || special == S::GlobalTimerHi;
}

}  // namespace

Operands::Operands(const DecodeScope& scope, FrameLayout& frame, Emitter& out)
    : scope_(scope),
      module_(*scope.layout->module),
      function_(module_.functions[scope.function]),
      code_(out.code()),
      frame_(frame),
      out_(out) {}

const ptx::Operand& Operands::operand(std::size_t i) const {
  RADDLE_ASSERT(inst_ != nullptr);
  if (i >= inst_->operands.size()) refuse("too few operands");
  return inst_->operands[i];
}

Type Operands::type(std::size_t i) const {
  RADDLE_ASSERT(inst_ != nullptr);
  if (i < inst_->types.size()) return inst_->types[i];
  const std::string_view word = unknown_type(*inst_);
  if (!word.empty()) refuse("unknown type ." + std::string(word));
  refuse(i == 0 ? "it names no type" : "it names only " + std::to_string(i) + " of its types");
}

u32 Operands::special(const ptx::Operand& operand, unsigned width) {
  const ptx::Special special = operand.special;
  if (!is_clock(special)) return frame_.special(special, operand.special_index, width);
  const u32 t = frame_.temporary();
  Record& r = out_.emit(O_clock, t);
  r.imm = special == ptx::Special::ClockHi || special == ptx::Special::GlobalTimerHi ? 1 : 0;
  r.aux = width;
  return t;
}

ptx::Space Operands::symbol_space(const ptx::Operand& operand) const {
  const u32 index = operand.symbol.index;
  switch (operand.symbol.scope) {
    case ptx::SymbolRef::Scope::Module:
      return module_.variables[index].space;
    case ptx::SymbolRef::Scope::Function:
      return function_.variables[index].space;
    case ptx::SymbolRef::Scope::Parameter:
    case ptx::SymbolRef::Scope::ReturnParameter:
      return ptx::Space::Param;
    default:
      return ptx::Space::Generic;
  }
}

std::optional<u64> Operands::symbol_value(const ptx::Operand& operand) const {
  const u64 offset = static_cast<u64>(operand.offset);
  const u32 index = operand.symbol.index;
  using Scope = ptx::SymbolRef::Scope;
  switch (operand.symbol.scope) {
    case Scope::Module: {
      RADDLE_ASSERT(index < module_.variables.size());
      const ptx::Variable& v = module_.variables[index];
      if (v.space == ptx::Space::Shared) return scope_.shared->module[index] + offset;
      if (v.space != ptx::Space::Global && v.space != ptx::Space::Const)
        refuse("address of " + v.name);
      return scope_.layout->variables[index] + offset;
    }
    case Scope::Function: {
      RADDLE_ASSERT(index < function_.variables.size());
      const ptx::Variable& v = function_.variables[index];
      if (v.space == ptx::Space::Param) refuse("address of a call's parameter");
      if (v.space == ptx::Space::Local && !function_.is_entry) return std::nullopt;
      return frame_.variable_at(index) + offset;
    }
    case Scope::Parameter:
      if (!function_.is_entry) refuse("address of a function's parameter");
      RADDLE_ASSERT(index < scope_.parameters->items.size());
      return scope_.parameters->items[index].offset + offset;
    case Scope::Code:
      return function_address(index) + offset;
    default:
      refuse("address");
  }
}

u32 Operands::local_address(const ptx::Operand& operand, unsigned width) {
  const u32 t = frame_.temporary();
  Record& r = out_.emit(O_local_address, t);
  r.imm = static_cast<std::int32_t>(frame_.variable_at(operand.symbol.index) + operand.offset);
  r.aux = width;
  return t;
}

u32 Operands::resize(u32 offset, unsigned from, unsigned to, bool is_signed) {
  if (from == to) return offset;
  static constexpr struct {
    unsigned from, to;
    Op sign, zero;
  } kResizes[] = {{2, 4, O_sext_16_32, O_zext_16_32},   {2, 8, O_sext_16_64, O_zext_16_64},
                  {4, 8, O_sext_32_64, O_zext_32_64},   {4, 2, O_trunc_32_16, O_trunc_32_16},
                  {8, 2, O_trunc_64_16, O_trunc_64_16}, {8, 4, O_trunc_64_32, O_trunc_64_32}};
  for (const auto& form : kResizes)
    if (form.from == from && form.to == to) {
      const u32 t = frame_.temporary();
      out_.alu(is_signed ? form.sign : form.zero, t, offset);
      return t;
    }
  refuse("operand size");
}

u32 Operands::source(const ptx::Operand& operand, Type type) {
  const unsigned width = register_bytes(type);
  if (width > 8) refuse("128-bit values");
  switch (operand.kind) {
    case Kind::Register:
      if (operand.has_selector) refuse();
      if (frame_.is_predicate(operand.reg)) refuse("predicate as a value");
      if (ptx::is_float(type) && frame_.register_width(operand.reg) < width)
        refuse("source register smaller than its type");
      return resize(frame_.register_at(operand.reg), frame_.register_width(operand.reg), width,
                    ptx::is_signed(type));
    case Kind::Integer:
    case Kind::Float32:
    case Kind::Float64:
      return frame_.constant(width, immediate(operand, type));
    case Kind::Special:
      return special(operand, width);
    case Kind::Symbol:
      if (const auto value = symbol_value(operand)) return frame_.constant(width, *value);
      return local_address(operand, width);
    default:
      refuse("operand");
  }
}

u32 Operands::wide_register(const ptx::Operand& operand) const {
  if (operand.kind == Kind::Sink) return frame_.trash();
  if (operand.kind != Kind::Register || frame_.register_width(operand.reg) != 16)
    refuse("register of 128 bits expected");
  return frame_.register_at(operand.reg);
}

u32 Operands::destination(const ptx::Operand& operand, Type type) const {
  const unsigned width = register_bytes(type);
  if (width > 8) refuse("128-bit values");
  if (operand.kind == Kind::Sink) return frame_.trash();
  if (operand.kind == Kind::Predicates && operand.reg == ptx::kNoIndex) return frame_.trash();
  if (operand.kind != Kind::Register && operand.kind != Kind::Predicates) refuse("destination");
  if (frame_.register_width(operand.reg) != width) refuse("destination register of another size");
  return frame_.register_at(operand.reg);
}

Operands::Predicate Operands::predicate(const ptx::Operand& operand) const {
  if (operand.kind == Kind::Integer)
    return {operand.bits != 0 ? FrameLayout::kAlwaysTrue : FrameLayout::kAlwaysFalse, false};
  if (operand.kind != Kind::Register || !frame_.is_predicate(operand.reg))
    refuse("predicate expected");
  return {frame_.register_at(operand.reg), operand.negated};
}

u32 Operands::predicate_value(const ptx::Operand& operand) {
  const Predicate p = predicate(operand);
  if (!p.negated) return p.offset;
  const u32 t = frame_.temporary_predicate();
  out_.emit(O_pred_logic, t, p.offset, p.offset, 0, 1);
  return t;
}

u32 Operands::second_predicate(const ptx::Operand& operand) const {
  return operand.reg2 == ptx::kNoIndex ? 0 : frame_.register_at(operand.reg2);
}

std::vector<ParameterPlace> Operands::places(const std::vector<ptx::Operand>& operands) const {
  std::vector<ParameterPlace> list;
  for (const ptx::Operand& o : operands) {
    if (o.kind == Kind::Symbol && o.symbol.scope == ptx::SymbolRef::Scope::Function) {
      const ptx::Variable& v = function_.variables[o.symbol.index];
      list.push_back({frame_.variable_at(o.symbol.index), static_cast<u32>(v.size), false});
    } else if (o.kind == Kind::Symbol && !function_.is_entry &&
               o.symbol.scope == ptx::SymbolRef::Scope::Parameter) {
      list.push_back(code_.parameters[o.symbol.index]);
    } else if (o.kind == Kind::Register) {
      if (frame_.register_width(o.reg) > 8) refuse("argument of 128 bits");
      list.push_back({frame_.register_at(o.reg), frame_.register_width(o.reg), true});
    } else {
      refuse("argument");
    }
  }
  return list;
}

}  // namespace raddle::exec
