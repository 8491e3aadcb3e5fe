// Operation and type of an atomic or a reduction, as the instruction names them.
#pragma once
#include <optional>
#include <string_view>
#include <utility>

#include "raddle/exec/isa/record.h"
#include "raddle/ptx/module.h"

namespace raddle::exec {

inline std::optional<AtomOp> atomic_operation(const ptx::Instruction& inst) {
  static constexpr std::pair<std::string_view, AtomOp> kByName[] = {
      {"add", AtomOp::Add},    {"min", AtomOp::Min}, {"max", AtomOp::Max},
      {"inc", AtomOp::Inc},    {"dec", AtomOp::Dec}, {"and", AtomOp::And},
      {"or", AtomOp::Or},      {"xor", AtomOp::Xor}, {"exch", AtomOp::Exchange},
      {"cas", AtomOp::Compare}};
  std::optional<AtomOp> out;
  for (const auto& [name, operation] : kByName)
    if (inst.has(name)) out = operation;
  return out;
}

inline std::optional<AtomType> atomic_type(ptx::Type type) {
  using ptx::Type;
  static constexpr std::pair<Type, AtomType> kByType[] = {
      {Type::U32, AtomType::U32},     {Type::B32, AtomType::U32},
      {Type::S32, AtomType::S32},     {Type::U64, AtomType::U64},
      {Type::B64, AtomType::U64},     {Type::S64, AtomType::S64},
      {Type::F32, AtomType::F32},     {Type::F64, AtomType::F64},
      {Type::F16, AtomType::F16},     {Type::BF16, AtomType::BF16},
      {Type::F16x2, AtomType::F16x2}, {Type::BF16x2, AtomType::BF16x2},
      {Type::B16, AtomType::B16}};
  for (const auto& [from, as] : kByType)
    if (from == type) return as;
  return std::nullopt;
}

}  // namespace raddle::exec
