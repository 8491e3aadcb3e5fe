// The language of experiment files: numbers computed from runs, and conditions on them. This file
// is the syntax; evaluate/evaluator.h gives it a meaning, experiments/README.md describes both.
#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace raddle::lab {

/// A point of an axis as files write it: a number or a text.
using AxisValue = std::variant<double, std::string>;
/// Whole numbers up to here are doubles, each another one.
inline constexpr std::uint64_t kLargestPoint = std::uint64_t{1} << 53;
/// "16", "0.5", "uniform".
std::string shown(const AxisValue& value);

/// What a fold or a quantifier goes through.
struct Domain {
  std::vector<std::string> names;     ///< a group, workload, variant or axis; several in braces
  std::vector<AxisValue> values;      ///< of "AXIS in {...}"
  std::vector<std::string> except;    ///< workloads, groups or variants that are left out
  std::optional<AxisValue> from, to;  ///< part of an axis, ends included
};

/// Moves to a place: "gto" or "l1=32".
struct Pin {
  std::string dimension;  ///< "" when it was not written
  AxisValue value;
};

enum class ExpressionKind : std::uint8_t {
  Number,
  Name,        ///< word: a measure, constant, axis, or (with `of`) a variant or workload
  Path,        ///< word: a place in the result JSON
  Pinned,      ///< parts[0] at pins
  Negative,    ///< parts[0]
  Arithmetic,  ///< word: + - * /
  Call,        ///< word: a function of numbers
  Fold,        ///< word: a function of parts[0] over domains
  Comparison,  ///< parts[i] relations[i] parts[i + 1]
  Within,      ///< parts[0] in [parts[1], parts[2]]
  And,         ///< of parts
  Or,          ///< of parts
  Not,         ///< parts[0]
  Quantified,  ///< parts[0] for word (all, some, none, least, most) of domains, `count` of them
};

struct Expression {
  ExpressionKind kind = ExpressionKind::Number;
  double number = 0;
  std::string word;
  std::uint32_t count = 0;
  std::vector<Expression> parts;
  std::vector<std::string> relations;
  std::vector<Domain> domains;
  std::vector<Pin> pins;
  std::size_t begin = 0, end = 0;  ///< where it stands in the text

  /// Holds or does not hold, instead of being a number.
  bool is_condition() const;
};

/// What is wrong with a text, without its place in a file: "expected ..., found ... at character
/// 7".
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws ExpressionError. `parse_number` and `parse_condition` also when it is the other kind.
Expression parse_number(std::string_view text);
Expression parse_condition(std::string_view text);

/// Words that cannot be names: of the language, functions, and `workload`, `variant`, `member1`...
bool is_reserved(std::string_view word);
/// Letters, digits and '_', beginning with a letter, not reserved.
bool is_name(std::string_view word);
/// 1 to 9 for "member1" to "member9", else 0.
unsigned member_number(std::string_view word);

}  // namespace raddle::lab
