#include "raddle/ptx/constant.h"

#include <bit>
#include <limits>
#include <string>

namespace raddle::ptx {
namespace {

enum class Operator : std::uint8_t {
  LogicalOr,
  LogicalAnd,
  Or,
  Xor,
  And,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
};

struct OperatorRow {
  std::string_view text;
  Operator what;
  int precedence;
};
// Two-character operators first: the longest match counts.
constexpr OperatorRow kOperators[] = {
    {"||", Operator::LogicalOr, 1}, {"&&", Operator::LogicalAnd, 2},
    {"==", Operator::Equal, 6},     {"!=", Operator::NotEqual, 6},
    {"<=", Operator::LessEqual, 7}, {">=", Operator::GreaterEqual, 7},
    {"<<", Operator::ShiftLeft, 8}, {">>", Operator::ShiftRight, 8},
    {"|", Operator::Or, 3},         {"^", Operator::Xor, 4},
    {"&", Operator::And, 5},        {"<", Operator::Less, 7},
    {">", Operator::Greater, 7},    {"+", Operator::Add, 9},
    {"-", Operator::Subtract, 9},   {"*", Operator::Multiply, 10},
    {"/", Operator::Divide, 10},    {"%", Operator::Remainder, 10},
};

Constant integer(std::uint64_t bits, bool is_unsigned) {
  return {Constant::Kind::Integer, is_unsigned, bits};
}
Constant real(double value) {
  return {Constant::Kind::Float64, false, std::bit_cast<std::uint64_t>(value)};
}
Constant truth(bool value) { return integer(value ? 1 : 0, false); }

class Evaluator {
 public:
  explicit Evaluator(Cursor& cursor) : cursor_(&cursor) {}

  Constant ternary() {
    const Constant condition = binary(1);
    if (!cursor_->token().is('?')) return condition;
    const Token place = cursor_->take();
    deepen(place);
    const Constant yes = ternary();
    cursor_->expect(':');
    const Constant no = ternary();
    --depth_;
    require_integer(condition, place);
    return condition.bits != 0 ? yes : no;
  }

  Constant unary() {
    const Token token = cursor_->token();
    deepen(token);
    Constant value;
    if (cursor_->accept('-')) {
      value = negated(unary());
    } else if (cursor_->accept('+')) {
      value = unary();
    } else if (cursor_->accept('!')) {
      value = unary();
      require_integer(value, token);
      value = truth(value.bits == 0);
    } else if (cursor_->accept('~')) {
      value = unary();
      require_integer(value, token);
      value.bits = ~value.bits;
      value.is_unsigned = true;
    } else if (cursor_->accept('(')) {
      value = parenthesis();
    } else {
      value = literal(token);
    }
    --depth_;
    return value;
  }

 private:
  static constexpr unsigned kMaxDepth = 64;

  // Expressions come from files: recursion is bounded so that nesting cannot exhaust the stack.
  void deepen(const Token& token) {
    if (++depth_ > kMaxDepth) cursor_->fail_at(token, "expression nested deeper than 64");
  }

  void require_integer(const Constant& value, const Token& place) const {
    if (value.kind == Constant::Kind::Integer) return;
    cursor_->fail_at(place, "operator " + in_quotes(place.text) + " needs whole numbers");
  }

  static Constant negated(Constant value) {
    switch (value.kind) {
      case Constant::Kind::Integer:
        value.bits = 0 - value.bits;
        break;
      case Constant::Kind::Float32:
        value.bits ^= std::uint64_t{1} << 31;
        break;
      case Constant::Kind::Float64:
        value.bits ^= std::uint64_t{1} << 63;
        break;
    }
    return value;
  }

  Constant parenthesis() {
    if (cursor_->accept_directive(".s64")) return cast(false);
    if (cursor_->accept_directive(".u64")) return cast(true);
    const Constant value = ternary();
    cursor_->expect(')');
    return value;
  }

  Constant cast(bool is_unsigned) {
    cursor_->expect(')');
    const Token place = cursor_->token();
    Constant value = unary();
    require_integer(value, place);
    value.is_unsigned = is_unsigned;
    return value;
  }

  Constant literal(const Token& token) {
    switch (token.kind) {
      case Token::Kind::Integer:
        cursor_->advance();
        return integer(token.bits, token.is_unsigned);
      case Token::Kind::Float32:
        cursor_->advance();
        return {Constant::Kind::Float32, false, token.bits};
      case Token::Kind::Float64:
        cursor_->advance();
        return {Constant::Kind::Float64, false, token.bits};
      case Token::Kind::Word:
        if (token.text == "WARP_SZ") {
          cursor_->advance();
          return integer(32, false);
        }
        [[fallthrough]];
      default:
        cursor_->fail_expected("a constant");
    }
  }

  const OperatorRow* operator_here() {
    const Token& token = cursor_->token();
    if (token.kind != Token::Kind::Milestone && token.text != "%") return nullptr;
    const char pair[2] = {token.text[0], token.text.data()[1]};
    for (const OperatorRow& row : kOperators)
      if (row.text == std::string_view(pair, row.text.size())) return &row;
    return nullptr;
  }

  Constant binary(int lowest) {
    Constant left = unary();
    for (;;) {
      const OperatorRow* row = operator_here();
      if (row == nullptr || row->precedence < lowest) return left;
      const Token place = cursor_->take();
      if (row->text.size() == 2) cursor_->advance();
      deepen(place);
      const Constant right = binary(row->precedence + 1);
      --depth_;
      left = combine(row->what, left, right, place);
    }
  }

  Constant combine(Operator what, const Constant& left, const Constant& right, const Token& place) {
    if (left.kind != Constant::Kind::Integer || right.kind != Constant::Kind::Integer)
      return combine_reals(what, left, right, place);
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    const auto signed_left = static_cast<std::int64_t>(left.bits),
               signed_right = static_cast<std::int64_t>(right.bits);
    switch (what) {
      case Operator::LogicalOr:
        return truth(left.bits != 0 || right.bits != 0);
      case Operator::LogicalAnd:
        return truth(left.bits != 0 && right.bits != 0);
      case Operator::Or:
        return integer(left.bits | right.bits, is_unsigned);
      case Operator::Xor:
        return integer(left.bits ^ right.bits, is_unsigned);
      case Operator::And:
        return integer(left.bits & right.bits, is_unsigned);
      case Operator::Equal:
        return truth(left.bits == right.bits);
      case Operator::NotEqual:
        return truth(left.bits != right.bits);
      case Operator::Less:
        return truth(is_unsigned ? left.bits < right.bits : signed_left < signed_right);
      case Operator::LessEqual:
        return truth(is_unsigned ? left.bits <= right.bits : signed_left <= signed_right);
      case Operator::Greater:
        return truth(is_unsigned ? left.bits > right.bits : signed_left > signed_right);
      case Operator::GreaterEqual:
        return truth(is_unsigned ? left.bits >= right.bits : signed_left >= signed_right);
      case Operator::ShiftLeft:
        return integer(right.bits < 64 ? left.bits << right.bits : 0, left.is_unsigned);
      case Operator::ShiftRight:
        return shifted_right(left, right.bits);
      case Operator::Add:
        return integer(left.bits + right.bits, is_unsigned);
      case Operator::Subtract:
        return integer(left.bits - right.bits, is_unsigned);
      case Operator::Multiply:
        return integer(left.bits * right.bits, is_unsigned);
      case Operator::Divide:
      case Operator::Remainder:
        break;
    }
    if (right.bits == 0) cursor_->fail_at(place, "division by zero");
    // Remainders are of unsigned numbers. Theirs, too, says ptxas; the ISA's table has .s64.
    if (what == Operator::Remainder) return integer(left.bits % right.bits, true);
    if (is_unsigned) return integer(left.bits / right.bits, true);
    // The one quotient that overflows wraps around, as the hardware's negation does.
    if (signed_right == -1) return integer(0 - left.bits, false);
    return integer(static_cast<std::uint64_t>(signed_left / signed_right), false);
  }

  static Constant shifted_right(const Constant& a, std::uint64_t by) {
    if (a.is_unsigned) return integer(by < 64 ? a.bits >> by : 0, true);
    const auto value = static_cast<std::int64_t>(a.bits) >> (by < 64 ? by : 63);
    return integer(static_cast<std::uint64_t>(value), false);
  }

  Constant combine_reals(Operator what, const Constant& a, const Constant& b, const Token& place) {
    const double x = as_double(a), y = as_double(b);
    switch (what) {
      case Operator::Add:
        return real(x + y);
      case Operator::Subtract:
        return real(x - y);
      case Operator::Multiply:
        return real(x * y);
      case Operator::Divide:
        if (y == 0) cursor_->fail_at(place, "division by zero");
        return real(x / y);
      case Operator::Equal:
        return truth(x == y);
      case Operator::NotEqual:
        return truth(x != y);
      case Operator::Less:
        return truth(x < y);
      case Operator::LessEqual:
        return truth(x <= y);
      case Operator::Greater:
        return truth(x > y);
      case Operator::GreaterEqual:
        return truth(x >= y);
      default:
        cursor_->fail_at(place, "operator " + in_quotes(place.text) + " needs whole numbers");
    }
  }

  Cursor* cursor_;
  unsigned depth_ = 0;
};

}  // namespace

bool begins_constant(const Token& token) {
  switch (token.kind) {
    case Token::Kind::Integer:
    case Token::Kind::Float32:
    case Token::Kind::Float64:
      return true;
    case Token::Kind::Milestone:
      return token.is('-') || token.is('+') || token.is('(') || token.is('~') || token.is('!');
    default:
      return false;
  }
}

Constant constant_expression(Cursor& cursor) { return Evaluator(cursor).ternary(); }
Constant constant_operand(Cursor& cursor) { return Evaluator(cursor).unary(); }

std::int64_t integer_expression(Cursor& cursor, const char* what) {
  if (!begins_constant(cursor.token())) cursor.fail_expected(what);
  const Token place = cursor.token();
  const Constant value = constant_expression(cursor);
  if (value.kind != Constant::Kind::Integer)
    cursor.fail_at(place, std::string("expected ") + what + ", found a floating-point number");
  return static_cast<std::int64_t>(value.bits);
}

double as_double(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits));
    case Constant::Kind::Float64:
      return std::bit_cast<double>(constant.bits);
    case Constant::Kind::Integer:
      break;
  }
  return constant.is_unsigned ? static_cast<double>(constant.bits)
                              : static_cast<double>(static_cast<std::int64_t>(constant.bits));
}

}  // namespace raddle::ptx
