// Constant expressions: PTX ISA 9.0, section 4.5 (integers are 64-bit two's complement, .s64 unless
// U or a result of ~ or %).
#pragma once
#include <cstdint>

#include "raddle/ptx/cursor.h"

namespace raddle::ptx {

struct Constant {
  enum class Kind : std::uint8_t { Integer, Float32, Float64 };
  Kind kind = Kind::Integer;
  bool is_unsigned = false;
  std::uint64_t bits = 0;  ///< two's complement, or the pattern of the float
};

/// True when the current token can begin a constant expression.
bool begins_constant(const Token& token);

/// The whole expression at the cursor, ?: included. Throws InputError on anything that is not one,
/// on division by zero, and on nesting deeper than 64.
Constant constant_expression(Cursor& cursor);
/// Like constant_expression, but without operators between operands: "-4", "(2+2)", "(.s64)7".
Constant constant_operand(Cursor& cursor);
/// A constant_expression that must be a whole number; `what` names it in the message.
std::int64_t integer_expression(Cursor& cursor, const char* what);

double as_double(const Constant& constant);

}  // namespace raddle::ptx
