#include "raddle/ptx/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace raddle::ptx {
namespace {

enum : std::uint8_t { kNameStart = 1, kNamePart = 2, kDigit = 4, kHexDigit = 8 };

constexpr std::array<std::uint8_t, 256> character_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kNamePart | kDigit | kHexDigit;
  for (unsigned c = 0; c < 26; ++c) {
    const std::uint8_t hex = c < 6 ? kHexDigit : 0;
    table['a' + c] = table['A' + c] = static_cast<std::uint8_t>(kNameStart | kNamePart | hex);
  }
  table['_'] = table['$'] = kNameStart | kNamePart;
  table['%'] = kNameStart;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = character_classes();

bool is(char c, std::uint8_t which) {
  return (kClasses[static_cast<unsigned char>(c)] & which) != 0;
}

unsigned hex_value(char c) {
  if (c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

}  // namespace

bool is_name_character(char c) { return is(c, kNamePart); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string out = "'";
  for (char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
      out += escape;
    }
  }
  if (text.size() > kShown) out += "...";
  return out + "'";
}

Lexer::Lexer(std::string_view text, const std::string& file)
    : at_(text.data()), end_(at_ + text.size()), line_start_(at_), file_(&file) {}

void Lexer::fail(unsigned line, unsigned column, const std::string& message) const {
  throw InputError(Place{*file_, line, column}, message);
}

void Lexer::skip_blank() {
  for (;; ++at_) {
    switch (*at_) {
      case ' ':
      case '\t':
      case '\r':
      case '\f':
      case '\v':
        break;
      case '\n':
        ++line_;
        line_start_ = at_ + 1;
        break;
      case '/':
        if (at_[1] == '/') {
          skip_line();
        } else if (at_[1] == '*') {
          skip_block_comment();
        } else {
          return;
        }
        --at_;
        break;
      default:
        return;
    }
  }
}

void Lexer::skip_line() {
  const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
  at_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
}

void Lexer::skip_block_comment() {
  const unsigned line = line_, column = column_of(at_);
  for (at_ += 2; at_ < end_; ++at_) {
    if (*at_ == '*' && at_[1] == '/') {
      at_ += 2;
      return;
    }
    if (*at_ == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  }
  fail(line, column, "comment without an end: expected */, found end of file");
}

char Lexer::peek_character() {
  skip_blank();
  return *at_;
}

Token Lexer::next() {
  skip_blank();
  Token token;
  token.line = line_;
  token.column = column_of(at_);
  const char* const start = at_;
  if (at_ == end_) return token;
  const char c = *at_;
  if (is(c, kNameStart)) {
    token.kind = Token::Kind::Word;
    ++at_;
    take_word();
  } else if (is(c, kDigit) || (c == '.' && is(at_[1], kDigit))) {
    take_number(token);
  } else if (c == '.' && is(at_[1], kNameStart)) {
    token.kind = Token::Kind::Directive;
    for (++at_; is(*at_, kNamePart) || (at_[0] == ':' && at_[1] == ':'); ++at_)
      if (*at_ == ':') ++at_;
  } else if (c == '"') {
    token.kind = Token::Kind::String;
    take_string(token);
  } else {
    token.kind = Token::Kind::Milestone;
    ++at_;
  }
  token.text = {start, static_cast<std::size_t>(at_ - start)};
  return token;
}

// Dots and double colons join words only when a name character follows: "ld.shared::cta.u32", but
// "L1:" is L1.
void Lexer::take_word() {
  for (;;) {
    while (is(*at_, kNamePart)) ++at_;
    if (at_[0] == '.' && is(at_[1], kNamePart)) {
      at_ += 2;
    } else if (at_[0] == ':' && at_[1] == ':' && is(at_[2], kNamePart)) {
      at_ += 3;
    } else {
      return;
    }
  }
}

void Lexer::take_string(const Token& token) {
  for (++at_; at_ < end_ && *at_ != '\n'; ++at_) {
    if (*at_ == '\\' && at_ + 1 < end_ && at_[1] != '\n') {
      ++at_;
    } else if (*at_ == '"') {
      ++at_;
      return;
    }
  }
  fail(token.line, token.column, "string without an end: expected \" before the end of the line");
}

void Lexer::take_number(Token& token) {
  token.kind = Token::Kind::Integer;
  const char* const start = at_;
  const char second = static_cast<char>(at_[0] == '0' ? at_[1] | 0x20 : 0);
  switch (second) {
    case 'f':
      token.kind = Token::Kind::Float32;
      take_bit_pattern(token, 8);
      break;
    case 'd':
      token.kind = Token::Kind::Float64;
      take_bit_pattern(token, 16);
      break;
    case 'x':
      at_ += 2;
      take_integer(token, 16);
      break;
    case 'b':
      at_ += 2;
      take_integer(token, 2);
      break;
    default: {
      const char* past = at_;
      while (is(*past, kDigit)) ++past;
      if (*past == '.' || *past == 'e' || *past == 'E') {
        take_decimal_float(token);
      } else {
        take_integer(token, *at_ == '0' && past != at_ + 1 ? 8 : 10);
      }
    }
  }
  if (is(*at_, kNamePart)) {
    while (is(*at_, kNamePart)) ++at_;
    const std::string_view whole{start, static_cast<std::size_t>(at_ - start)};
    fail(token.line, token.column, "malformed number " + in_quotes(whole));
  }
}

void Lexer::take_bit_pattern(Token& token, unsigned digits) {
  at_ += 2;
  const char* const first = at_;
  for (; is(*at_, kHexDigit); ++at_) token.bits = token.bits << 4 | hex_value(*at_);
  const auto count = static_cast<std::size_t>(at_ - first);
  if (count == digits) return;
  fail(token.line, token.column,
       "malformed number " + in_quotes({first - 2, count + 2}) + ": expected " +
           std::to_string(digits) + " hexadecimal digits, found " + std::to_string(count));
}

void Lexer::take_integer(Token& token, unsigned base) {
  const char* const first = at_;
  bool fits = true;
  for (; is(*at_, kHexDigit) && hex_value(*at_) < base; ++at_) {
    fits &= token.bits <= (~std::uint64_t{0} - hex_value(*at_)) / base;
    token.bits = token.bits * base + hex_value(*at_);
  }
  if (at_ == first) {
    at_ -= 2;
    const char* const start = at_;
    while (is(*at_, kNamePart)) ++at_;
    const std::string_view whole{start, static_cast<std::size_t>(at_ - start)};
    fail(token.line, token.column, "malformed number " + in_quotes(whole));
  }
  if (!fits) fail(token.line, token.column, "number does not fit in 64 bits");
  token.is_unsigned = token.bits >> 63 != 0;
  if (*at_ == 'U') {
    ++at_;
    token.is_unsigned = true;
  }
}

void Lexer::take_decimal_float(Token& token) {
  token.kind = Token::Kind::Float64;
  double value = 0;
  const auto result = std::from_chars(at_, end_, value);
  if (result.ec != std::errc{})
    fail(token.line, token.column, "decimal number is outside the range of .f64");
  at_ = result.ptr;
  token.bits = std::bit_cast<std::uint64_t>(value);
}

}  // namespace raddle::ptx
