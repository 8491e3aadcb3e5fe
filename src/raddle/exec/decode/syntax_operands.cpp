#include "raddle/exec/decode/syntax_operands.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/exec/decode/syntax.h"
#include "raddle/ptx/names.h"

namespace raddle::exec {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using Kind = Operand::Kind;

/// What registers are told apart by, beside their size.
enum class Class { Bits, Integer, Float, Predicate };

Class class_of(Type type) {
  switch (type) {
    case Type::B8:
    case Type::B16:
    case Type::B32:
    case Type::B64:
    case Type::B128:
      return Class::Bits;
    case Type::U8:
    case Type::U16:
    case Type::U32:
    case Type::U64:
    case Type::S8:
    case Type::S16:
    case Type::S32:
    case Type::S64:
      return Class::Integer;
    case Type::Pred:
      return Class::Predicate;
    default:
      return Class::Float;  // packed integers as well: only bits and their own type hold them
  }
}

Type type_of(const OperandPattern& pattern, const Instruction& inst) {
  if (pattern.type != Type::None) return pattern.type;
  RADDLE_ASSERT(pattern.place < inst.types.size());
  const Type type = inst.types[pattern.place];
  return pattern.doubled ? ptx::wide_of(type) : type;
}

bool constant_fits(const Operand& constant, Type type) {
  const bool whole = class_of(type) == Class::Bits || class_of(type) == Class::Integer;
  switch (constant.kind) {
    case Kind::Integer:
      return whole;
    case Kind::Float32:
      return type == Type::F32 || type == Type::F64 || type == Type::B32;
    default:
      return type == Type::F32 || type == Type::F64 || type == Type::B64;
  }
}

/// Bytes of a special register; 0: it can be read as 4 and as 8.
unsigned special_size(ptx::Special special) {
  using S = ptx::Special;
  if (special == S::GridId) return 0;
  return special == S::Clock64 || special == S::GlobalTimer ? 8 : 4;
}

bool special_fits(const Operand& operand, Type type, bool wider) {
  if (class_of(type) != Class::Bits && class_of(type) != Class::Integer) return false;
  const unsigned found = special_size(operand.special), size = ptx::size_of(type);
  if (found == 0 || operand.special == ptx::Special::WarpSize) return true;
  // %tid.x and its kin were of 16 bits once, and are read as such still.
  return found == size || (wider && found > size) || (found == 4 && size == 2);
}

bool is_value(const OperandPattern& pattern, const ptx::Function& function, const Operand& operand,
              Type type) {
  switch (operand.kind) {
    case Kind::Register:
      // Where the instruction's words do not say the type (the amount of a shift), ptxas takes no
      // such register.
      if (function.registers[operand.reg].type == Type::F16x2 && pattern.type != Type::None &&
          pattern.type != Type::F16x2)
        return false;
      return !operand.has_selector && !operand.negated &&
             register_fits(function.registers[operand.reg].type, type, pattern.wider);
    case Kind::Integer:
    case Kind::Float32:
    case Kind::Float64:
      return constant_fits(operand, type);
    case Kind::Special:
      return (pattern.role == OperandRole::Moved || operand.special == ptx::Special::WarpSize) &&
             special_fits(operand, type, pattern.wider);
    case Kind::Symbol:
      // To ptxas an address with an offset is a constant.
      return ((pattern.role == OperandRole::Moved && !pattern.wider) || operand.offset != 0) &&
             (class_of(type) == Class::Bits || class_of(type) == Class::Integer);
    default:
      return false;
  }
}

bool is_destination(const OperandPattern& pattern, const ptx::Function& function,
                    const Operand& operand, Type type) {
  return operand.kind == Kind::Register && is_value(pattern, function, operand, type);
}

bool is_predicate(const ptx::Function& function, const Operand& operand) {
  return operand.kind == Kind::Register && function.registers[operand.reg].type == Type::Pred;
}

/// Elements that .v2, .v4 and .v8 ask for; 0: no vector.
std::size_t vector_length(const Instruction& inst) {
  for (const std::string_view word : inst.modifiers)
    if (word == "v2" || word == "v4" || word == "v8")
      return static_cast<std::size_t>(word[1] - '0');
  return 0;
}

/// ptxas looks at a vector as a whole: its elements need not be of one class.
bool is_element(const ptx::Function& function, const Operand& operand, Type type) {
  if (operand.kind != Kind::Register || operand.has_selector) return false;
  const Type found = function.registers[operand.reg].type;
  const Class wanted = class_of(type), held = class_of(found);
  if (held == Class::Predicate) return false;
  const unsigned size = ptx::size_of(type), bytes = ptx::size_of(found);
  return wanted == Class::Float ? held == Class::Integer && bytes == size : bytes >= size;
}

bool is_accessed(const OperandPattern& pattern, const ptx::Function& function,
                 const Instruction& inst, const Operand& operand, Type type) {
  const bool loads = pattern.role == OperandRole::Loaded;
  const auto fits = [&](const Operand& one) {
    return loads ? is_destination(pattern, function, one, type)
                 : is_value(pattern, function, one, type);
  };
  const std::size_t length = vector_length(inst);
  if (length == 0) return fits(operand);
  if (operand.kind != Kind::Vector || operand.elements.size() != length) return false;
  bool one_fits = class_of(type) == Class::Float;
  unsigned bytes = 0;
  for (const Operand& element : operand.elements) {
    if (element.kind == Kind::Register) {
      const unsigned found = ptx::size_of(function.registers[element.reg].type);
      if (bytes != 0 && found != bytes) return false;
      bytes = found;
    }
    const bool sink = loads && element.kind == Kind::Sink, fitting = sink || fits(element);
    one_fits |= fitting;
    if (!fitting && !is_element(function, element, type)) return false;
  }
  return one_fits;
}

/// Their sizes the parser has compared with the whole.
bool are_parts(const ptx::Function& function, const Operand& operand) {
  return operand.kind == Kind::Vector &&
         std::ranges::none_of(operand.elements, [&](const auto& part) {
           return is_predicate(function, part) || part.has_selector;
         });
}

bool is_float_address(const ptx::Function& function, const Operand& operand) {
  if (operand.reg == ptx::kNoIndex) return false;
  const Class held = class_of(function.registers[operand.reg].type);
  return held != Class::Bits && held != Class::Integer;
}

bool are_written_predicates(const ptx::Function& function, const Operand& operand) {
  if (operand.kind == Kind::Sink) return true;
  if (operand.kind == Kind::Predicates)
    return operand.reg == ptx::kNoIndex || function.registers[operand.reg].type == Type::Pred;
  return is_predicate(function, operand) && !operand.negated;
}

bool is_pair_with_predicate(const OperandPattern& pattern, const ptx::Function& function,
                            const Operand& operand, Type type) {
  if (operand.kind != Kind::Predicates)
    return operand.kind == Kind::Sink || is_destination(pattern, function, operand, type);
  return operand.reg == ptx::kNoIndex ||
         register_fits(function.registers[operand.reg].type, type, pattern.wider);
}

}  // namespace

bool register_fits(Type found, Type type, bool wider) {
  const Class wanted = class_of(type), held = class_of(found);
  if (wanted == Class::Predicate || held == Class::Predicate) return wanted == held;
  const unsigned size = ptx::size_of(type), bytes = ptx::size_of(found);
  if (wider ? bytes < size : bytes != size) return false;
  if (wanted == Class::Bits || held == Class::Bits) return true;
  // Beyond the ISA's table ptxas takes these.
  if (found == Type::F16x2) return type != Type::F32 && type != Type::BF16x2;
  if (type == Type::BF16) return held == Class::Integer;
  return wanted == Class::Float ? found == type : held == Class::Integer;
}

OperandPattern operand_pattern(std::string_view word) {
  OperandPattern made;
  switch (word[0]) {
    case 'D':
    case 'd':
    case 'W':
      made.role = OperandRole::Destination;
      break;
    case 's':
    case 'w':
      made.role = OperandRole::Source;
      break;
    case 'm':
    case 'M':
      made.role = OperandRole::Moved;
      break;
    case 'e':
      made.role = OperandRole::DestinationOrSink;
      break;
    case 'b':
      made.role = OperandRole::DestinationMaybePredicate;
      break;
    case 'B':
      made.role = OperandRole::DestinationAndPredicate;
      break;
    case 'v':
      made.role = OperandRole::Loaded;
      break;
    case 'V':
      made.role = OperandRole::Stored;
      break;
    case 'k':
      made.role = OperandRole::Parts;
      break;
    case 'p':
      made.role = OperandRole::WrittenPredicate;
      return made;
    case 't':
      made.role = OperandRole::WrittenPredicates;
      return made;
    case 'q':
      made.role = OperandRole::ReadPredicate;
      return made;
    case 'a':
      made.role = OperandRole::Address;
      return made;
    case 'i':
      made.role = OperandRole::Number;
      for (const char digit : word.substr(1))
        made.number = 10 * made.number + static_cast<std::uint64_t>(digit - '0');
      return made;
    case 'y':
      made.role = OperandRole::AnyVector;
      return made;
    case 'o':
      made.role = OperandRole::Sink;
      return made;
    case 'g':
      made.role = OperandRole::Registers;
      made.number = static_cast<std::uint64_t>(word[1] - '0');
      RADDLE_ASSERT(word.size() > 3 && word[2] == '.');
      word.remove_prefix(2);
      break;
    default:
      RADDLE_ASSERT(word == "x");
      return made;
  }
  made.wider = std::string_view("DMvV").find(word[0]) != std::string_view::npos;
  made.doubled = word[0] == 'w' || word[0] == 'W';
  word.remove_prefix(1);
  if (word == "0" || word == "1") made.place = word == "1" ? 1 : 0;
  else made.type = ptx::type_named(word);
  RADDLE_ASSERT(word.size() == 1 || made.type != Type::None);
  return made;
}

bool operand_agrees(const OperandPattern& pattern, const ptx::Function& function,
                    const Instruction& inst, const Operand& operand) {
  switch (pattern.role) {
    case OperandRole::Any:
      return true;
    case OperandRole::Address:
      return operand.kind == Kind::Address && !is_float_address(function, operand);
    case OperandRole::Number:
      return operand.kind == Kind::Integer &&
             (pattern.number == 0 || operand.bits == pattern.number);
    case OperandRole::Parts:
      return are_parts(function, operand);
    case OperandRole::AnyVector:
      return operand.kind == Kind::Vector;
    case OperandRole::Sink:
      return operand.kind == Kind::Sink;
    case OperandRole::WrittenPredicate:
      return is_predicate(function, operand) && !operand.negated;
    case OperandRole::WrittenPredicates:
      return are_written_predicates(function, operand);
    case OperandRole::ReadPredicate:
      return operand.kind == Kind::Integer || is_predicate(function, operand);
    default:
      break;
  }
  const Type type = type_of(pattern, inst);
  switch (pattern.role) {
    case OperandRole::Destination:
      return is_destination(pattern, function, operand, type);
    case OperandRole::DestinationOrSink:
      return operand.kind == Kind::Sink || is_destination(pattern, function, operand, type);
    case OperandRole::DestinationAndPredicate:
      return operand.kind == Kind::Predicates &&
             is_pair_with_predicate(pattern, function, operand, type);
    case OperandRole::DestinationMaybePredicate:
      return is_pair_with_predicate(pattern, function, operand, type);
    case OperandRole::Registers:
      return operand.kind == Kind::Vector && operand.elements.size() == pattern.number &&
             std::ranges::all_of(operand.elements, [&](const Operand& element) {
               return element.kind == Kind::Sink || is_value(pattern, function, element, type);
             });
    case OperandRole::Loaded:
    case OperandRole::Stored:
      return is_accessed(pattern, function, inst, operand, type);
    default:
      return is_value(pattern, function, operand, type);
  }
}

std::string expected_text(const OperandPattern& pattern, const Instruction& inst) {
  switch (pattern.role) {
    case OperandRole::Address:
      return "an address";
    case OperandRole::Number:
      return pattern.number == 0 ? "a whole number" : std::to_string(pattern.number);
    case OperandRole::Parts:
      return "a vector of parts";
    case OperandRole::AnyVector:
      return "a vector";
    case OperandRole::Sink:
      return "'_'";
    case OperandRole::WrittenPredicate:
    case OperandRole::WrittenPredicates:
      return "a predicate register";
    case OperandRole::ReadPredicate:
      return "a predicate";
    default:
      break;
  }
  const std::string type(ptx::name_of(type_of(pattern, inst)));
  switch (pattern.role) {
    case OperandRole::Registers:
      return "a vector of " + std::to_string(pattern.number) + " for ." + type;
    case OperandRole::Loaded:
    case OperandRole::Stored:
      if (const std::size_t length = vector_length(inst); length != 0)
        return "a vector of " + std::to_string(length) + " for ." + type;
      [[fallthrough]];
    case OperandRole::Source:
      return (pattern.role == OperandRole::Loaded ? "a register for ."
                                                  : "a register or constant for .") +
             type;
    case OperandRole::Moved:
      return "a value for ." + type;
    case OperandRole::DestinationAndPredicate:
      return "a register for ." + type + " with a predicate";
    default:
      return "a register for ." + type;
  }
}

std::string operand_text(const ptx::Function& function, const Operand& operand) {
  switch (operand.kind) {
    case Kind::Register:
    case Kind::Predicates: {
      if (operand.reg == ptx::kNoIndex) return "'_'";
      const ptx::Register& found = function.registers[operand.reg];
      return (operand.negated ? "'!" : "'") + found.name + "' of type ." +
             std::string(ptx::name_of(found.type)) +
             (operand.kind == Kind::Predicates ? " with a predicate" : "");
    }
    case Kind::Integer:
      return std::to_string(static_cast<std::int64_t>(operand.bits));
    case Kind::Float32:
    case Kind::Float64:
      return "a floating-point number";
    case Kind::Special:
      return "a special register";
    case Kind::Symbol:
      return "a symbol";
    case Kind::Address:
      return "an address";
    case Kind::Vector:
      return "a vector of " + std::to_string(operand.elements.size());
    case Kind::Label:
      return "a label";
    case Kind::Sink:
      return "'_'";
  }
  return "something else";
}

}  // namespace raddle::exec
