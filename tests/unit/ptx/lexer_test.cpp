// Tokens: words, numbers, strings, comments, places.
#include "raddle/ptx/lexer.h"

#include <gtest/gtest.h>

#include <bit>
#include <ostream>
#include <vector>

namespace raddle::ptx::lexer_test {
namespace {

using Kind = Token::Kind;

std::vector<Token> tokens(const std::string& text) {
  static const std::string file = "t.ptx";
  Lexer lexer(text, file);
  std::vector<Token> all;
  for (Token token = lexer.next(); token.kind != Kind::End; token = lexer.next())
    all.push_back(token);
  return all;
}
Token only(const std::string& text) {
  const std::vector<Token> all = tokens(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.at(0);
}
std::string lexer_error(const std::string& text) {
  try {
    tokens(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Lexer, EmptyTextHasNoTokens) {
  EXPECT_TRUE(tokens("").empty());
  EXPECT_TRUE(tokens(" \t\r\n\f// nothing\n/* at all */").empty());
}

TEST(Lexer, OpcodeWithDottedWordsIsOneWord) {
  const std::string text = "tex.level.2d.v4.f32.f32";
  const Token token = only(text);
  EXPECT_EQ(token.kind, Kind::Word);
  EXPECT_EQ(token.text, text);
}

TEST(Lexer, DoubleColonJoinsWordsButALabelColonDoesNot) {
  const std::string joined = "ld.global.L2::128B.b32";
  EXPECT_EQ(only(joined).text, joined);
  const std::string label = "$L__BB0_2:ret";
  const std::vector<Token> all = tokens(label);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].text, "$L__BB0_2");
  EXPECT_TRUE(all[1].is(':'));
}

TEST(Lexer, NamesMayHoldDollarUnderscoreAndBeginWithPercent) {
  for (const std::string name : {"%r12", "_", "_$_str", "$L1", "%tid.x", "__local_depot0", "%_"}) {
    const Token token = only(name);
    EXPECT_EQ(token.kind, Kind::Word) << name;
    EXPECT_EQ(token.text, name);
  }
}

TEST(Lexer, DirectivesEndAtTheNextDot) {
  const std::string text = ".reg.b32";
  const std::vector<Token> all = tokens(text);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].is_directive(".reg"));
  EXPECT_TRUE(all[1].is_directive(".b32"));
}

struct NumberCase {
  std::string text;
  Kind kind;
  std::uint64_t bits;
  bool is_unsigned;
};
void PrintTo(const NumberCase& c, std::ostream* out) { *out << '"' << c.text << '"'; }
class LexerNumbers : public testing::TestWithParam<NumberCase> {};
TEST_P(LexerNumbers, HaveTheBitsWritten) {
  const Token token = only(GetParam().text);
  EXPECT_EQ(token.kind, GetParam().kind);
  EXPECT_EQ(token.bits, GetParam().bits);
  EXPECT_EQ(token.is_unsigned, GetParam().is_unsigned);
}
INSTANTIATE_TEST_SUITE_P(
    All, LexerNumbers,
    testing::Values(
        NumberCase{"0", Kind::Integer, 0, false}, NumberCase{"42", Kind::Integer, 42, false},
        NumberCase{"42U", Kind::Integer, 42, true}, NumberCase{"017", Kind::Integer, 15, false},
        NumberCase{"0x7fU", Kind::Integer, 127, true},
        NumberCase{"0Xff", Kind::Integer, 255, false}, NumberCase{"0b101", Kind::Integer, 5, false},
        NumberCase{"9223372036854775807", Kind::Integer, 0x7fffffffffffffff, false},
        NumberCase{"9223372036854775808", Kind::Integer, 0x8000000000000000, true},
        NumberCase{"0xffffffffffffffff", Kind::Integer, ~std::uint64_t{0}, true},
        NumberCase{"0f3F800000", Kind::Float32, 0x3f800000, false},
        NumberCase{"0F7f800000", Kind::Float32, 0x7f800000, false},
        NumberCase{"0d400A000000000000", Kind::Float64, 0x400a000000000000, false},
        NumberCase{"1.5", Kind::Float64, std::bit_cast<std::uint64_t>(1.5), false},
        NumberCase{".5", Kind::Float64, std::bit_cast<std::uint64_t>(0.5), false},
        NumberCase{"2e3", Kind::Float64, std::bit_cast<std::uint64_t>(2000.0), false},
        NumberCase{"1.0E-3", Kind::Float64, std::bit_cast<std::uint64_t>(1e-3), false}));

TEST(Lexer, MalformedNumbersAreRefusedWithTheirPlace) {
  EXPECT_EQ(lexer_error(" 12abc"), "t.ptx:1:2: malformed number '12abc'");
  EXPECT_EQ(lexer_error("\n0x"), "t.ptx:2:1: malformed number '0x'");
  EXPECT_EQ(lexer_error("0b2"), "t.ptx:1:1: malformed number '0b2'");
  EXPECT_EQ(lexer_error("089"), "t.ptx:1:1: malformed number '089'");
  EXPECT_EQ(lexer_error("0f3F80"),
            "t.ptx:1:1: malformed number '0f3F80': expected 8 hexadecimal digits, found 4");
  EXPECT_EQ(lexer_error("0d400A0000000000001"),
            "t.ptx:1:1: malformed number '0d400A0000000000001': expected 16 hexadecimal digits, "
            "found 17");
  EXPECT_EQ(lexer_error("18446744073709551616"), "t.ptx:1:1: number does not fit in 64 bits");
  EXPECT_EQ(lexer_error("1e999"), "t.ptx:1:1: decimal number is outside the range of .f64");
}

TEST(Lexer, CommentsCountLines) {
  const std::string text = "a // b\n/* c\n d */ e";
  const std::vector<Token> all = tokens(text);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].text, "e");
  EXPECT_EQ(all[1].line, 3u);
  EXPECT_EQ(all[1].column, 7u);
}

TEST(Lexer, WhatNeverEndsIsRefusedWhereItBegins) {
  EXPECT_EQ(lexer_error("a\n /* b"),
            "t.ptx:2:2: comment without an end: expected */, found end of file");
  EXPECT_EQ(lexer_error("/*/"),
            "t.ptx:1:1: comment without an end: expected */, found end of file");
  EXPECT_EQ(lexer_error("\"abc"),
            "t.ptx:1:1: string without an end: expected \" before the end of the line");
  EXPECT_EQ(lexer_error("\"abc\\"),
            "t.ptx:1:1: string without an end: expected \" before the end of the line");
}

TEST(Lexer, StringsMayHoldEscapedQuotes) {
  const std::string text = R"("a \" b" c)";
  EXPECT_EQ(tokens(text).size(), 2u);
}

TEST(Lexer, SlashAloneIsAMark) {
  const std::string text = "6/2";
  const std::vector<Token> all = tokens(text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[1].is('/'));
}

TEST(Lexer, QuotedTextIsClippedAndPrintable) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes("\x7f\n"), "'\\x7f\\x0a'");
  EXPECT_EQ(in_quotes(std::string(50, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace raddle::ptx::lexer_test
