#include "raddle/lab/file/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "raddle/lab/file/lexer.h"

namespace raddle::lab {

namespace {

using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 19> kKeywords = {
    "over", "and", "or",     "not",  "for", "all",    "some", "none",     "at",     "least",
    "most", "of",  "except", "from", "to",  "within", "in",   "workload", "variant"};
constexpr std::array<std::string_view, 15> kFolds = {
    "hmean",  "gmean", "amean", "sum",  "min",      "max",         "count",        "argmax",
    "argmin", "rises", "falls", "flat", "monotone", "peak_inside", "valley_inside"};
constexpr std::array<std::string_view, 6> kConditionFolds = {
    "rises", "falls", "flat", "monotone", "peak_inside", "valley_inside"};

/// Functions of numbers, and how many they take.
struct Function {
  std::string_view name;
  std::size_t minimum, maximum;
};
constexpr std::array<Function, 10> kFunctions = {{{"min", 1, 99},
                                                  {"max", 1, 99},
                                                  {"abs", 1, 1},
                                                  {"sqrt", 1, 1},
                                                  {"log2", 1, 1},
                                                  {"exp2", 1, 1},
                                                  {"floor", 1, 1},
                                                  {"ceil", 1, 1},
                                                  {"round", 1, 2},
                                                  {"chosen", 2, 2}}};
// A chain of brackets or minus signs nests; nobody writes as many.
constexpr unsigned kMaxDepth = 64;

bool among(std::string_view word, Words words) {
  return std::ranges::find(words, word) != words.end();
}

const Function* function_of(std::string_view name) {
  const auto* at = std::ranges::find(kFunctions, name, &Function::name);
  return at == kFunctions.end() ? nullptr : at;
}

bool is_relation(std::string_view sign) {
  return sign == "<" || sign == "<=" || sign == ">" || sign == ">=" || sign == "==" || sign == "~";
}

using Kind = ExpressionKind;

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}

  Expression whole() {
    Expression out = statement();
    if (here().kind != Token::Kind::End) wrong("the end, or an operator");
    return out;
  }

 private:
  /// Counts how deep the recursion is.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser.depth_ > kMaxDepth)
        throw ExpressionError("is nested deeper than " + std::to_string(kMaxDepth));
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };

  const Token& here() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool is_sign(std::string_view sign) const {
    return here().kind == Token::Kind::Sign && here().text == sign;
  }
  bool is_word(std::string_view word) const {
    return here().kind == Token::Kind::Name && here().text == word;
  }
  bool take_sign(std::string_view sign) { return is_sign(sign) && (++at_, true); }
  bool take_word(std::string_view word) { return is_word(word) && (++at_, true); }
  [[noreturn]] void wrong(const std::string& expected) const {
    const Token& token = here();
    throw ExpressionError(fmt::format(
        "expected {}, found {} at character {}", expected,
        token.kind == Token::Kind::End ? "the end" : "'" + token.text + "'", token.begin + 1));
  }
  void expect_sign(std::string_view sign) {
    if (!take_sign(sign)) wrong(fmt::format("'{}'", sign));
  }
  void expect_word(std::string_view word) {
    if (!take_word(word)) wrong(fmt::format("'{}'", word));
  }

  Expression start(Kind kind) const {
    Expression out;
    out.kind = kind;
    out.begin = here().begin;
    return out;
  }
  Expression done(Expression e) const {
    e.end = at_ == 0 ? 0 : tokens_[at_ - 1].end;
    return e;
  }
  /// A node that begins with `first`.
  Expression around(Kind kind, Expression first) const {
    Expression out;
    out.kind = kind;
    out.begin = first.begin;
    out.parts.push_back(std::move(first));
    return out;
  }
  Expression checked(Expression e, bool condition) const {
    if (e.is_condition() != condition)
      throw ExpressionError(fmt::format("expected {}, found {} at character {}",
                                        condition ? "a condition such as a < b" : "a number",
                                        condition ? "a number" : "a condition", e.begin + 1));
    return e;
  }

  // --- conditions ---
  Expression statement() {
    const Depth depth(*this);
    if (!is_word("for")) return disjunction();
    Expression out = start(Kind::Quantified);
    ++at_;
    if (take_word("all") || take_word("some")) {
      out.word = tokens_[at_ - 1].text;
    } else if (take_word("none")) {
      out.word = "none";
      expect_word("of");
    } else if (take_word("at")) {
      if (!take_word("least") && !take_word("most")) wrong("'least' or 'most'");
      out.word = tokens_[at_ - 1].text;
      const double n = here().number;
      if (here().kind != Token::Kind::Number || n != std::floor(n) || n > 1e6)
        wrong("a whole number");
      out.count = static_cast<std::uint32_t>(n);
      ++at_;
      expect_word("of");
    } else {
      wrong("'all', 'some', 'none of', 'at least N of' or 'at most N of'");
    }
    out.domains = domains();
    expect_sign(":");
    out.parts.push_back(checked(statement(), true));
    return done(std::move(out));
  }

  Expression disjunction() { return joined("or", Kind::Or, &Parser::conjunction); }
  Expression conjunction() { return joined("and", Kind::And, &Parser::negation); }
  Expression joined(std::string_view word, Kind kind, Expression (Parser::*operand)()) {
    Expression first = (this->*operand)();
    if (!is_word(word)) return first;
    Expression out = around(kind, checked(std::move(first), true));
    while (take_word(word)) out.parts.push_back(checked((this->*operand)(), true));
    return done(std::move(out));
  }

  Expression negation() {
    const Depth depth(*this);
    if (!is_word("not")) return comparison();
    Expression out = start(Kind::Not);
    ++at_;
    out.parts.push_back(checked(negation(), true));
    return done(std::move(out));
  }

  Expression comparison() {
    Expression first = sum();
    if (is_word("within")) {
      Expression out = around(Kind::Within, checked(std::move(first), false));
      ++at_;
      expect_sign("[");
      out.parts.push_back(checked(sum(), false));
      expect_sign(",");
      out.parts.push_back(checked(sum(), false));
      expect_sign("]");
      return done(std::move(out));
    }
    if (here().kind != Token::Kind::Sign || !is_relation(here().text)) return first;
    Expression out = around(Kind::Comparison, checked(std::move(first), false));
    while (here().kind == Token::Kind::Sign && is_relation(here().text)) {
      out.relations.push_back(here().text);
      ++at_;
      out.parts.push_back(checked(sum(), false));
    }
    return done(std::move(out));
  }

  // --- numbers ---
  Expression sum() { return chain("+", "-", &Parser::product); }
  Expression product() { return chain("*", "/", &Parser::unary); }
  Expression chain(std::string_view one, std::string_view two, Expression (Parser::*operand)()) {
    Expression left = (this->*operand)();
    while (is_sign(one) || is_sign(two)) {
      Expression out = around(Kind::Arithmetic, checked(std::move(left), false));
      out.word = here().text;
      ++at_;
      out.parts.push_back(checked((this->*operand)(), false));
      left = done(std::move(out));
      if (++links_ > 1000) throw ExpressionError("has more than 1000 operators");
    }
    return left;
  }

  Expression unary() {
    const Depth depth(*this);
    if (!is_sign("-")) return primary();
    Expression out = start(Kind::Negative);
    ++at_;
    out.parts.push_back(checked(unary(), false));
    return done(std::move(out));
  }

  Expression primary() {
    if (here().kind == Token::Kind::Number) {
      Expression out = start(Kind::Number);
      out.number = here().number;
      ++at_;
      return done(std::move(out));
    }
    const std::size_t begin = here().begin;
    if (take_sign("(")) {
      Expression out = statement();
      expect_sign(")");
      if (out.is_condition()) return out;
      out.begin = begin;
      return pinned(done(std::move(out)));
    }
    if (here().kind == Token::Kind::Name && next().kind == Token::Kind::Sign && next().text == "(")
      return pinned_call();
    if (here().kind == Token::Kind::Path ||
        (here().kind == Token::Kind::Name && is_name(here().text))) {
      Expression out = start(here().kind == Token::Kind::Path ? Kind::Path : Kind::Name);
      out.word = here().text;
      ++at_;
      return pinned(done(std::move(out)));
    }
    wrong("a number, a name, a path or '('");
  }

  Expression pinned(Expression inner) {
    if (!is_sign("[")) return inner;
    Expression out = around(Kind::Pinned, std::move(inner));
    ++at_;
    do out.pins.push_back(pin());
    while (take_sign(","));
    expect_sign("]");
    return done(std::move(out));
  }

  Expression pinned_call() {
    Expression out = call();
    return out.is_condition() ? out : pinned(std::move(out));
  }

  Pin pin() {
    Pin out;
    if (here().kind == Token::Kind::Name && next().kind == Token::Kind::Sign &&
        next().text == "=") {
      if (!is_word("workload") && !is_word("variant") && !is_name(here().text))
        wrong("'workload', 'variant' or an axis");
      out.dimension = here().text;
      at_ += 2;
    } else if (here().kind != Token::Kind::Name) {
      wrong("a variant, a workload or AXIS=VALUE");
    }
    out.value = value();
    return out;
  }

  AxisValue value() {
    const bool negative = take_sign("-");
    if (here().kind == Token::Kind::Number) {
      const double number = here().number;
      ++at_;
      return negative ? -number : number;
    }
    if (!negative && here().kind == Token::Kind::Path) return tokens_[at_++].text;  // quoted text
    if (!negative && here().kind == Token::Kind::Name &&
        (is_name(here().text) || member_number(here().text) != 0))
      return tokens_[at_++].text;
    wrong("a value");
  }

  Expression call() {
    const Depth depth(*this);
    const std::string name = here().text;
    const bool fold = among(name, kFolds);
    const Function* function = function_of(name);
    if (!fold && function == nullptr) wrong("a function");
    Expression out = start(Kind::Call);
    out.word = name;
    at_ += 2;
    if (name == "chosen") return chosen(std::move(out));
    out.parts.push_back(statement());
    if (fold && take_word("over")) {
      out.kind = Kind::Fold;
      out.parts[0] = checked(std::move(out.parts[0]), name == "count");
      out.domains = domains();
      expect_sign(")");
      return done(std::move(out));
    }
    if (function == nullptr) wrong("'over' and what to go through");
    while (take_sign(",")) out.parts.push_back(statement());
    for (const Expression& part : out.parts) checked(part, false);
    if (out.parts.size() < function->minimum || out.parts.size() > function->maximum)
      throw ExpressionError(fmt::format("{} takes {} number{}, found {} at character {}", name,
                                        function->maximum, function->maximum == 1 ? "" : "s",
                                        out.parts.size(), out.begin + 1));
    expect_sign(")");
    return done(std::move(out));
  }

  /// chosen(selection, axis): two names.
  Expression chosen(Expression out) {
    for (const char* end : {",", ")"}) {
      if (here().kind != Token::Kind::Name || !is_name(here().text))
        wrong("chosen(SELECTION, AXIS)");
      Expression name = start(Kind::Name);
      name.word = here().text;
      ++at_;
      out.parts.push_back(done(std::move(name)));
      expect_sign(end);
    }
    return done(std::move(out));
  }

  std::vector<Domain> domains() {
    std::vector<Domain> out;
    do out.push_back(domain());
    while (take_sign(","));
    return out;
  }

  std::vector<std::string> names() {
    std::vector<std::string> out;
    const bool set = take_sign("{");
    do {
      if (here().kind != Token::Kind::Name || !is_name(here().text))
        wrong("a group, workload, variant or axis");
      out.push_back(here().text);
      ++at_;
    } while (set && take_sign(","));
    if (set) expect_sign("}");
    return out;
  }

  Domain domain() {
    Domain out;
    out.names = names();
    if (take_word("in")) {
      expect_sign("{");
      do out.values.push_back(value());
      while (take_sign(","));
      expect_sign("}");
    }
    if (take_word("except")) out.except = names();
    if (take_word("from")) {
      out.from = value();
      expect_word("to");
      out.to = value();
    }
    return out;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  unsigned depth_ = 0, links_ = 0;
};

Expression parse(std::string_view text, bool condition) {
  Expression out = Parser(text).whole();
  if (out.is_condition() != condition)
    throw ExpressionError(condition ? "expected a condition such as a < b, found a number"
                                    : "expected a number, found a condition");
  return out;
}

}  // namespace

std::string shown(const AxisValue& value) {
  const double* number = std::get_if<double>(&value);
  return number ? fmt::format("{}", *number) : std::get<std::string>(value);
}

bool Expression::is_condition() const {
  switch (kind) {
    case Kind::Comparison:
    case Kind::Within:
    case Kind::And:
    case Kind::Or:
    case Kind::Not:
    case Kind::Quantified:
      return true;
    case Kind::Fold:
      return among(word, kConditionFolds);
    default:
      return false;
  }
}

Expression parse_number(std::string_view text) { return parse(text, false); }
Expression parse_condition(std::string_view text) { return parse(text, true); }

unsigned member_number(std::string_view word) {
  return word.size() == 7 && word.starts_with("member") && word[6] >= '1' && word[6] <= '9'
             ? static_cast<unsigned>(word[6] - '0')
             : 0;
}

bool is_reserved(std::string_view word) {
  return among(word, kKeywords) || among(word, kFolds) || function_of(word) != nullptr ||
         member_number(word) != 0;
}

bool is_name(std::string_view word) {
  if (word.empty() || word.size() > 64 || is_reserved(word)) return false;
  if (word[0] == '_' || (word[0] >= '0' && word[0] <= '9')) return false;
  return std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace raddle::lab
