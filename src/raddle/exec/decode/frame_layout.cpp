#include "raddle/exec/decode/frame_layout.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/round_up.h"
#include "raddle/exec/decode/refusal.h"
#include "raddle/ptx/analysis.h"

namespace raddle::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Type;

constexpr u32 kSlot = 128;  // 32 lanes of 4 bytes
constexpr u32 kTemporaries = 24, kPredicateTemporaries = 8;

}  // namespace

unsigned register_bytes(Type type) { return std::max(2u, ptx::size_of(type)); }

FrameLayout::FrameLayout(const DecodeScope& scope, Code& code)
    : scope_(scope), function_(scope.layout->module->functions[scope.function]), code_(code) {
  assign_registers();
  place_parameters();
  place_variables();
}

void FrameLayout::assign_registers() {
  const ptx::RegisterAssignment assigned = ptx::assign_registers(function_);
  RADDLE_ASSERT(assigned.number.size() == function_.registers.size());
  architectural_ = assigned.number;
  predicate_temporaries_ = 8 + 4 * assigned.predicates;
  u32 next = round_up(predicate_temporaries_ + 4 * kPredicateTemporaries, kSlot);
  std::map<std::pair<unsigned, u16>, u32> slots;  // by width and number, in order of appearance
  for (u32 r = 0; r < assigned.number.size(); ++r) {
    const u16 number = assigned.number[r];
    if (number == ptx::RegisterAssignment::kNone || is_predicate(r)) continue;
    const unsigned width = register_width(r);
    if (slots.try_emplace({width, number}, next).second) next += std::max(width / 4, 1u) * kSlot;
  }
  trash_ = next;
  carry_ = trash_ + 4 * kSlot;
  temporaries_ = carry_ + kSlot;
  code_.frame_bytes = temporaries_ + 2 * kSlot * kTemporaries;
  code_.registers = assigned.registers;
  register_at_.resize(function_.registers.size());
  for (u32 r = 0; r < register_at_.size(); ++r) {
    const u16 number = assigned.number[r];
    const bool none = number == ptx::RegisterAssignment::kNone;
    if (is_predicate(r)) register_at_[r] = none ? predicate_temporaries_ : 8 + 4u * number;
    else register_at_[r] = none ? trash_ : slots[{register_width(r), number}];
  }
}

void FrameLayout::place_parameters() {
  if (function_.is_entry) return;
  u32 next_register = 0;
  const auto place = [&](const ptx::Variable& v) {
    if (v.space == ptx::Space::Reg) {
      const u32 r = next_register++;
      return ParameterPlace{register_at(r), register_width(r), true};
    }
    const ParameterPlace p{code_.frame_bytes, static_cast<u32>(v.size), false};
    code_.frame_bytes += p.frame_bytes();
    return p;
  };
  for (const ptx::Variable& v : function_.returns) code_.returns.push_back(place(v));
  for (const ptx::Variable& v : function_.parameters) code_.parameters.push_back(place(v));
}

void FrameLayout::place_variables() {
  for (u32 i = 0; i < function_.variables.size(); ++i) {
    const ptx::Variable& v = function_.variables[i];
    u32 at = 0;
    if (v.space == ptx::Space::Param) {
      at = code_.frame_bytes;
      code_.frame_bytes += round_up(static_cast<u32>(v.size), 4) * 32;
    } else if (v.space == ptx::Space::Local) {
      at = round_up(code_.local_bytes, std::max(v.align, 4u));
      code_.local_bytes = at + static_cast<u32>(v.size);
    } else if (v.space == ptx::Space::Shared) {
      const auto found = scope_.shared->local.find({scope_.function, i});
      if (found != scope_.shared->local.end()) at = found->second;
    }
    variable_at_.push_back(at);
  }
  code_.local_bytes = round_up(code_.local_bytes, 16);
}

u32 FrameLayout::register_at(u32 reg) const {
  RADDLE_ASSERT(reg < register_at_.size());
  return register_at_[reg];
}

unsigned FrameLayout::register_width(u32 reg) const {
  RADDLE_ASSERT(reg < function_.registers.size());
  return register_bytes(function_.registers[reg].type);
}

bool FrameLayout::is_predicate(u32 reg) const {
  RADDLE_ASSERT(reg < function_.registers.size());
  return function_.registers[reg].type == Type::Pred;
}

u16 FrameLayout::architectural(u32 reg) const {
  RADDLE_ASSERT(reg < architectural_.size());
  return architectural_[reg];
}

u32 FrameLayout::variable_at(u32 variable) const {
  RADDLE_ASSERT(variable < variable_at_.size());
  return variable_at_[variable];
}

u32 FrameLayout::temporary() {
  if (temporaries_used_ == kTemporaries) refuse("too many intermediate values");
  return temporaries_ + 2 * kSlot * temporaries_used_++;
}

u32 FrameLayout::temporary_predicate() {
  if (predicates_used_ == kPredicateTemporaries - 1) refuse("too many intermediate predicates");
  return predicate_temporaries_ + 4 * ++predicates_used_;
}

void FrameLayout::release_temporaries() {
  temporaries_used_ = 0;
  predicates_used_ = 0;
}

u32 FrameLayout::append(unsigned width) {
  RADDLE_ASSERT(width == 2 || width == 4 || width == 8);
  RADDLE_ASSERT(code_.frame_bytes % kSlot == 0);  // lanes of a register are read as one vector
  const u32 at = code_.frame_bytes;
  code_.frame_bytes += width == 8 ? 2 * kSlot : kSlot;
  return at;
}

u32 FrameLayout::constant(unsigned width, u64 bits) {
  if (width < 8) bits &= (u64{1} << 8 * width) - 1;
  const auto [at, fresh] = constants_.try_emplace({width, bits}, code_.frame_bytes);
  if (fresh)
    code_.fills.push_back({.kind = Fill::Kind::Value,
                           .width = static_cast<std::uint8_t>(width),
                           .offset = append(width),
                           .value = bits});
  return at->second;
}

u32 FrameLayout::special(ptx::Special special, unsigned index, unsigned width) {
  const auto [at, fresh] = specials_.try_emplace(
      {static_cast<unsigned>(special) << 8 | index, width}, code_.frame_bytes);
  if (fresh)
    code_.fills.push_back({.kind = Fill::Kind::Special,
                           .width = static_cast<std::uint8_t>(width),
                           .offset = append(width),
                           .value = index,
                           .special = special});
  return at->second;
}

u32 FrameLayout::kernel_parameter(u64 from, unsigned width, unsigned size, bool is_signed) {
  RADDLE_ASSERT(size <= width);
  const auto [at, fresh] =
      parameters_.try_emplace({from, u64{width} << 8 | size, is_signed}, code_.frame_bytes);
  if (fresh)
    code_.fills.push_back({.kind = Fill::Kind::Parameter,
                           .width = static_cast<std::uint8_t>(width),
                           .offset = append(width),
                           .value = from,
                           .special = {},
                           .bytes = static_cast<std::uint8_t>(size),
                           .is_signed = is_signed});
  return at->second;
}

}  // namespace raddle::exec
