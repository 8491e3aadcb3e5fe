// The language's syntax.
#include "raddle/lab/file/expression.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <random>

#include "raddle/lab/file/lexer.h"

namespace raddle::lab::expression_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = ExpressionKind;

/// The expression with every bracket written out.
std::string tree(const Expression& x) {
  auto parts = [&](const std::string& between) {
    std::string out;
    for (const Expression& part : x.parts) out += (out.empty() ? "" : between) + tree(part);
    return out;
  };
  switch (x.kind) {
    case Kind::Number:
      return fmt::format("{}", x.number);
    case Kind::Name:
    case Kind::Path:
      return x.word;
    case Kind::Pinned: {
      std::string pins;
      for (const Pin& pin : x.pins)
        pins += (pins.empty() ? "" : ",") + (pin.dimension.empty() ? "" : pin.dimension + "=") +
                shown(pin.value);
      return tree(x.parts[0]) + "[" + pins + "]";
    }
    case Kind::Negative:
      return "(-" + tree(x.parts[0]) + ")";
    case Kind::Arithmetic:
      return "(" + parts(x.word) + ")";
    case Kind::Comparison: {
      std::string out = tree(x.parts[0]);
      for (std::size_t i = 0; i < x.relations.size(); ++i)
        out += x.relations[i] + tree(x.parts[i + 1]);
      return "(" + out + ")";
    }
    case Kind::Within:
      return "(" + tree(x.parts[0]) + " in " + tree(x.parts[1]) + ".." + tree(x.parts[2]) + ")";
    case Kind::And:
      return "(" + parts(" and ") + ")";
    case Kind::Or:
      return "(" + parts(" or ") + ")";
    case Kind::Not:
      return "(not " + tree(x.parts[0]) + ")";
    default: {
      std::string out = x.word + (x.count > 0 ? std::to_string(x.count) : "") + "(" + parts(",");
      for (const Domain& domain : x.domains) {
        out += " over";
        for (const std::string& name : domain.names) out += " " + name;
        for (const AxisValue& value : domain.values) out += " =" + shown(value);
        for (const std::string& name : domain.except) out += " -" + name;
        if (domain.from) out += " " + shown(*domain.from) + ".." + shown(*domain.to);
      }
      return out + ")";
    }
  }
}

std::string number(std::string_view text) { return tree(parse_number(text)); }
std::string condition(std::string_view text) { return tree(parse_condition(text)); }

std::string error_of(std::string_view text, bool is_condition) {
  try {
    is_condition ? parse_condition(text) : parse_number(text);
  } catch (const ExpressionError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Lexer, CutsWordsNumbersAndSigns) {
  std::string cut;
  for (const Token& token : tokens_of("ipc<=1.5e1% a.b.c[x] 'q-r' ~"))
    cut += fmt::format("{}{} ", "NWPSE"[static_cast<unsigned>(token.kind)], token.text);
  EXPECT_EQ(cut, "Wipc S<= N1.5e1% Pa.b.c S[ Wx S] Pq-r S~ E ");
  EXPECT_DOUBLE_EQ(tokens_of("30%")[0].number, 0.3);
  EXPECT_EQ(tokens_of("ab  cd")[1].begin, 4u);
  EXPECT_EQ(tokens_of("ab  cd")[1].end, 6u);
}

TEST(Expression, BindsAsUsual) {
  EXPECT_EQ(number("1 + 2 * 3 - 4 / 5"), "((1+(2*3))-(4/5))");
  EXPECT_EQ(number("1 - 2 - 3"), "((1-2)-3)");
  EXPECT_EQ(number("-a * b"), "((-a)*b)");
  EXPECT_EQ(number("(1 + 2) * 3"), "((1+2)*3)");
  EXPECT_EQ(number("--2"), "(-(-2))");
  EXPECT_EQ(condition("a < b and c > d or not e == f"), "(((a<b) and (c>d)) or (not (e==f)))");
  EXPECT_EQ(condition("not (a < b or c < d)"), "(not ((a<b) or (c<d)))");
}

TEST(Expression, ComparisonsChain) {
  EXPECT_EQ(condition("a < b <= c ~ d == e >= f > g"), "(a<b<=c~d==e>=f>g)");
  EXPECT_EQ(condition("a + 1 within [2, 3 * b]"), "((a+1) in 2..(3*b))");
}

TEST(Expression, PinsPathsAndFunctions) {
  EXPECT_EQ(number("totals.ipc[bfs, variant=gto, l1=32]"), "totals.ipc[bfs,variant=gto,l1=32]");
  EXPECT_EQ(number("ipc[workload=member2, mode='a b', n=-1]"),
            "ipc[workload=member2,mode=a b,n=-1]");
  EXPECT_EQ(number("'policies.warp.odd-name'"), "policies.warp.odd-name");
  EXPECT_EQ(number("hmean(ipc / ipc[gto] over hcs)"), "hmean((ipc/ipc[gto]) over hcs)");
  EXPECT_EQ(number("sum(a over hcs except {bfs, gc}, l1 in {8, 16}, k from 1 to 32)"),
            "sum(a over hcs -bfs -gc over l1 =8 =16 over k 1..32)");
  EXPECT_EQ(number("max(a, b, 3)"), "max(a,b,3)");
  EXPECT_EQ(number("max(a over hcs)"), "max(a over hcs)");
  EXPECT_EQ(number("round(a, 2)"), "round(a,2)");
  EXPECT_EQ(number("chosen(best_swl, limit)[bfs]"), "chosen(best_swl,limit)[bfs]");
  EXPECT_EQ(number("(a + b)[bfs] * 2"), "((a+b)[bfs]*2)");
  EXPECT_EQ(number("count(a < b over hcs)"), "count((a<b) over hcs)");
  EXPECT_EQ(condition("peak_inside(ipc over limit)"), "peak_inside(ipc over limit)");
}

TEST(Expression, Quantifiers) {
  EXPECT_EQ(condition("for all hcs: a < b"), "all((a<b) over hcs)");
  EXPECT_EQ(condition("for none of {a, b}, l1: a < b"), "none((a<b) over a b over l1)");
  EXPECT_EQ(condition("for at least 3 of hcs: a < b"), "least3((a<b) over hcs)");
  EXPECT_EQ(condition("for at most 2 of hcs: for some l1: a < b or c < d"),
            "most2(some(((a<b) or (c<d)) over l1) over hcs)");
  EXPECT_EQ(condition("(for all hcs: a < b) and c < d"), "(all((a<b) over hcs) and (c<d))");
}

TEST(Expression, RemembersWhereItStands) {
  const Expression x = parse_condition("ab + c  <  de[f]");
  EXPECT_EQ(x.parts[0].begin, 0u);
  EXPECT_EQ(x.parts[0].end, 6u);
  EXPECT_EQ(x.parts[1].begin, 11u);
  EXPECT_EQ(x.parts[1].end, 16u);
}

struct Wrong {
  const char* text;
  bool condition;
  const char* said;
};
void PrintTo(const Wrong& c, std::ostream* out) { *out << '"' << c.text << '"'; }

class BadExpression : public testing::TestWithParam<Wrong> {};

TEST_P(BadExpression, SaysWhatWasExpectedAndWhere) {
  EXPECT_THAT(error_of(GetParam().text, GetParam().condition), HasSubstr(GetParam().said))
      << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadExpression,
    testing::Values(
        Wrong{"", false, "expected a number, a name, a path or '(', found the end at character 1"},
        Wrong{"a +", false, "found the end at character 4"},
        Wrong{"a b", false, "expected the end, or an operator, found 'b' at character 3"},
        Wrong{"(a", false, "expected ')'"}, Wrong{"a[", false, "expected a variant, a workload"},
        Wrong{"a[b", false, "expected ']'"}, Wrong{"a[b=]", false, "expected a value, found ']'"},
        Wrong{"a[over=1]", false, "expected 'workload', 'variant' or an axis"},
        Wrong{"a < b", false, "expected a number, found a condition"},
        Wrong{"a", true, "expected a condition such as a < b, found a number"},
        Wrong{"a < (b < c)", true, "expected a number, found a condition at character 6"},
        Wrong{"a and b < c", true, "expected a condition such as a < b, found a number"},
        Wrong{"not a", true, "expected a condition"}, Wrong{"-(a < b)", false, "expected a number"},
        Wrong{"max(a < b)", false, "expected a number"},
        Wrong{"hmean(a < b over c)", false, "expected a number, found a condition at character 7"},
        Wrong{"count(a over c)", false, "expected a condition"},
        Wrong{"hmean(a)", false, "expected 'over' and what to go through"},
        Wrong{"abs(a, b)", false, "abs takes 1 number, found 2"},
        Wrong{"abs(a over b)", false, "expected ')', found 'over'"},
        Wrong{"frobnicate(a)", false, "expected a function, found 'frobnicate' at character 1"},
        Wrong{"chosen(a)", false, "expected ',', found ')'"},
        Wrong{"chosen(1, b)", false, "expected chosen(SELECTION, AXIS)"},
        Wrong{"hmean(a over )", false, "expected a group, workload, variant or axis"},
        Wrong{"hmean(a over {b)", false, "expected '}'"},
        Wrong{"hmean(a over b from 1)", false, "expected 'to'"},
        Wrong{"hmean(a over b in 1)", false, "expected '{'"},
        Wrong{"for every x: a < b", true, "expected 'all', 'some', 'none of'"},
        Wrong{"for none x: a < b", true, "expected 'of'"},
        Wrong{"for at x: a < b", true, "expected 'least' or 'most'"},
        Wrong{"for at least 1.5 of x: a < b", true, "expected a whole number"},
        Wrong{"for all x a < b", true, "expected ':'"},
        Wrong{"a within (1, 2)", true, "expected '['"}, Wrong{"a within [1]", true, "expected ','"},
        Wrong{"a $ b", false, "no sign '$'"},
        Wrong{"a \x01 b", false, "a character that is no part of the language"},
        Wrong{"a.", false, "expected a name behind the dot at character 2"},
        Wrong{"'abc", false, "expected a closing quote"}, Wrong{"''", false, "found nothing"},
        Wrong{"1e999", false, "expected a number that can be held"},
        Wrong{"12abc", false, "expected the end of a number"}, Wrong{"over", false, "found 'over'"},
        Wrong{"_x", false, "found '_x'"}));

TEST(BadExpression, NestingAndLengthAreBounded) {
  EXPECT_THAT(error_of(std::string(5000, '('), false), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(std::string(5000, '-') + "1", false), HasSubstr("nested deeper"));
  std::string nots, sum = "1";
  for (int i = 0; i < 5000; ++i) {
    nots += "not ";
    sum += "+1";
  }
  EXPECT_THAT(error_of(nots + "1<2", true), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(sum, false), HasSubstr("more than 1000 operators"));
}

TEST(Names, WordsOfTheLanguageAreTaken) {
  for (const char* word : {"over", "for", "hmean", "chosen", "workload", "member3", "rises"})
    EXPECT_FALSE(is_name(word)) << word;
  for (const char* word : {"a", "two_level_gto", "L1", "member", "member10", "memberX"})
    EXPECT_TRUE(is_name(word)) << word;
  for (const char* word : {"", "1a", "_a", "a-b", "a.b", "a b"})
    EXPECT_FALSE(is_name(word)) << word;
  EXPECT_EQ(member_number("member7"), 7u);
  EXPECT_EQ(member_number("member0"), 0u);
}

/// Random expressions, written with all brackets, are read back as what they were.
class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}
  std::string number(int depth) {
    if (depth == 0) return pick({"1", "2.5", "ipc", "totals.ipc", "ipc[gto]", "ipc[bfs,l1=8]"});
    switch (random_() % 4) {
      case 0:
        return "(" + number(depth - 1) + pick({"+", "-", "*", "/"}) + number(depth - 1) + ")";
      case 1:
        return "(-" + number(depth - 1) + ")";
      case 2:
        return pick({"min", "max"}) + "(" + number(depth - 1) + "," + number(depth - 1) + ")";
      default:
        return pick({"hmean", "sum", "argmax"}) + "(" + number(depth - 1) + " over hcs)";
    }
  }
  std::string condition(int depth) {
    if (depth == 0) return "(" + number(1) + pick({"<", "<=", "~"}) + number(1) + ")";
    switch (random_() % 3) {
      case 0:
        return "(" + condition(depth - 1) + pick({" and ", " or "}) + condition(depth - 1) + ")";
      case 1:
        return "(not " + condition(depth - 1) + ")";
      default:
        return condition(depth - 1);
    }
  }

 private:
  std::string pick(std::vector<std::string> from) { return from[random_() % from.size()]; }
  std::mt19937 random_;
};

TEST(Property, WhatIsWrittenIsRead) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Writer writer(seed);
    const std::string n = writer.number(4), c = writer.condition(3);
    EXPECT_EQ(number(n), n);
    EXPECT_EQ(condition(c), c);
  }
}

TEST(Property, AnyBytesAreReadOrRefused) {
  const std::string alphabet = "ab1.%+-*/()[]{},:~<>='\" fornotallhmeanoverwithin\n";
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 24; n > 0; --n) text += alphabet[random() % alphabet.size()];
    try {
      parse_number(text);
    } catch (const ExpressionError&) {
      continue;
    }
  }
}

}  // namespace
}  // namespace raddle::lab::expression_test
