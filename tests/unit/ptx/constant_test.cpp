// Constant expressions: PTX ISA section 4.5.
#include "raddle/ptx/constant.h"

#include <gtest/gtest.h>

#include <bit>
#include <ostream>

namespace raddle::ptx::constant_test {
namespace {

const std::string kFile = "c.ptx";

Constant evaluate(const std::string& text) {
  Cursor cursor(text, kFile);
  const Constant value = constant_expression(cursor);
  EXPECT_EQ(cursor.token().kind, Token::Kind::End) << text;
  return value;
}
std::string evaluation_error(const std::string& text) {
  try {
    Cursor cursor(text, kFile);
    constant_expression(cursor);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct IntegerCase {
  std::string text;
  std::int64_t value;
};
void PrintTo(const IntegerCase& c, std::ostream* out) { *out << '"' << c.text << '"'; }
class IntegerExpressions : public testing::TestWithParam<IntegerCase> {};
TEST_P(IntegerExpressions, HaveTheValueThatPtxasGives) {
  const Constant value = evaluate(GetParam().text);
  EXPECT_EQ(value.kind, Constant::Kind::Integer);
  EXPECT_EQ(static_cast<std::int64_t>(value.bits), GetParam().value) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(
    All, IntegerExpressions,
    testing::Values(IntegerCase{"1+2*3", 7}, IntegerCase{"(1+2)*3", 9}, IntegerCase{"10-4-3", 3},
                    IntegerCase{"-4", -4}, IntegerCase{"- -4", 4}, IntegerCase{"~0", -1},
                    IntegerCase{"!3", 0}, IntegerCase{"!0", 1}, IntegerCase{"+5", 5},
                    IntegerCase{"1<<4|1", 17}, IntegerCase{"0xff&0x0f^0x05", 10},
                    IntegerCase{"-16>>2", -4}, IntegerCase{"0xF000000000000000U>>60", 15},
                    IntegerCase{"1<<64", 0}, IntegerCase{"-1>>99", -1}, IntegerCase{"7/2", 3},
                    IntegerCase{"-7/2", -3}, IntegerCase{"-7 % 3", 0}, IntegerCase{"5 % -1", 5},
                    IntegerCase{"-1 % 7", 1}, IntegerCase{"(~5) % 7", 3},
                    IntegerCase{"~100 > 255", 1}, IntegerCase{"(~5)>>1", 0x7ffffffffffffffd},
                    IntegerCase{"7 % 2 - 2 < 0", 0}, IntegerCase{"(-1 & -1) > 5", 0},
                    IntegerCase{"3<4", 1}, IntegerCase{"-1<1U", 0}, IntegerCase{"4<=4", 1},
                    IntegerCase{"4>=5", 0}, IntegerCase{"4>3&&2>1", 1}, IntegerCase{"0||0", 0},
                    IntegerCase{"1==1", 1}, IntegerCase{"1!=1", 0}, IntegerCase{"1?2:3", 2},
                    IntegerCase{"0?2:1?4:5", 4}, IntegerCase{"WARP_SZ*2", 64},
                    IntegerCase{"(.u64)-1>>63", 1}, IntegerCase{"(.s64)0xFFFFFFFFFFFFFFFF>>63", -1},
                    IntegerCase{"0x8000000000000000/-1", 0},  // unsigned, as the literal is
                    IntegerCase{"(.s64)0x8000000000000000/-1",
                                std::numeric_limits<std::int64_t>::min()}));

TEST(RealExpressions, KeepBitPatternsAndFollowIeee) {
  EXPECT_EQ(evaluate("0f3F800000").bits, 0x3f800000u);
  EXPECT_EQ(evaluate("-0f3F800000").bits, 0xbf800000u);
  EXPECT_EQ(std::bit_cast<double>(evaluate("-1.5").bits), -1.5);
  EXPECT_EQ(std::bit_cast<double>(evaluate("1.5+2*0.25").bits), 2.0);
  EXPECT_EQ(std::bit_cast<double>(evaluate("3/2.0-0f3F800000").bits), 0.5);
  EXPECT_EQ(evaluate("1.5<2").bits, 1u);
  EXPECT_EQ(evaluate("1.5>=2.5").bits, 0u);
}

TEST(ConstantErrors, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(evaluation_error("1/0"), "c.ptx:1:2: division by zero");
  EXPECT_EQ(evaluation_error("1.0/0.0"), "c.ptx:1:4: division by zero");
  EXPECT_EQ(evaluation_error("1.5&1"), "c.ptx:1:4: operator '&' needs whole numbers");
  EXPECT_EQ(evaluation_error("~1.5"), "c.ptx:1:1: operator '~' needs whole numbers");
  EXPECT_EQ(evaluation_error("1.5?1:2"), "c.ptx:1:4: operator '?' needs whole numbers");
  EXPECT_EQ(evaluation_error("1+"), "c.ptx:1:3: expected a constant, found end of file");
  EXPECT_EQ(evaluation_error("(1"), "c.ptx:1:3: expected ')', found end of file");
  EXPECT_EQ(evaluation_error("1?2"), "c.ptx:1:4: expected ':', found end of file");
  EXPECT_EQ(evaluation_error("x"), "c.ptx:1:1: expected a constant, found 'x'");
}

TEST(ConstantErrors, NestingIsBoundedSoThatTheStackIsSafe) {
  EXPECT_EQ(evaluate(std::string(30, '(') + "1" + std::string(30, ')')).bits, 1u);
  const std::string expected = "expression nested deeper than 64";
  EXPECT_NE(evaluation_error(std::string(1'000'000, '(')).find(expected), std::string::npos);
  EXPECT_NE(evaluation_error(std::string(1'000'000, '-')).find(expected), std::string::npos);
  std::string ternaries, powers = "1";
  for (int i = 0; i < 100'000; ++i) ternaries += "1?1:";
  EXPECT_NE(evaluation_error(ternaries).find(expected), std::string::npos);
  for (int i = 0; i < 100'000; ++i) powers += "+1";
  EXPECT_EQ(evaluate(powers).bits, 100'001u) << "a flat expression is not nested";
}

}  // namespace
}  // namespace raddle::ptx::constant_test
