// What an operand of a form may be; see Form::operands.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/ptx/module.h"

namespace raddle::exec {

enum class OperandRole {
  Destination,
  DestinationOrSink,
  DestinationAndPredicate,
  DestinationMaybePredicate,
  Loaded,  ///< a destination or a vector of them
  Source,
  Moved,   ///< a source or a special register
  Stored,  ///< a source or a vector of them
  Parts,   ///< of mov
  WrittenPredicate,
  WrittenPredicates,
  ReadPredicate,
  Address,
  Number,
  Registers,  ///< a vector of so many
  AnyVector,
  Sink,
  Any,
};

struct OperandPattern {
  OperandRole role = OperandRole::Any;
  bool wider = false;                ///< registers may be wider than the type
  bool doubled = false;              ///< the type is twice as wide as written
  ptx::Type type = ptx::Type::None;  ///< None: that of the instruction at `place`
  std::size_t place = 0;
  std::uint64_t number = 0;  ///< that alone, or of so many; 0: any
};

/// Of one word of Form::operands.
OperandPattern operand_pattern(std::string_view word);

bool operand_agrees(const OperandPattern& pattern, const ptx::Function& function,
                    const ptx::Instruction& inst, const ptx::Operand& operand);

/// For messages: what was to stand there, and what does.
std::string expected_text(const OperandPattern& pattern, const ptx::Instruction& inst);
std::string operand_text(const ptx::Function& function, const ptx::Operand& operand);

}  // namespace raddle::exec
