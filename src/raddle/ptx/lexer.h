// PTX text cut into tokens. Nothing is copied: tokens view the text. Line directives and comments
// vanish here. Source: PTX ISA 9.0, section 4 (syntax).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/base/error.h"

namespace raddle::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    End,
    Word,       ///< name, register, or opcode with all its dotted words: "ld.global.f32", "%tid.x"
    Directive,  ///< ".reg"
    Integer,    ///< bits, is_unsigned
    Float32,    ///< 0f3F800000: bits
    Float64,    ///< 0d... or 1.5: bits of the f64
    String,     ///< with its quotes
    Milestone,  ///< any other single character
  };
  Kind kind = Kind::End;
  bool is_unsigned = false;
  unsigned line = 0, column = 0;
  std::string_view text;
  std::uint64_t bits = 0;

  bool is(char mark) const { return kind == Kind::Milestone && text[0] == mark; }
  bool is_directive(std::string_view name) const { return kind == Kind::Directive && text == name; }
};

/// Letters, digits, _ and $: what may follow the first character of a PTX name.
bool is_name_character(char c);

/// As shown in messages: quoted, clipped, unprintable bytes as \xNN.
std::string in_quotes(std::string_view text);

class Lexer {
 public:
  /// `text` ends with a NUL just past its end (as std::string's does) and outlives the lexer.
  Lexer(std::string_view text, const std::string& file);

  /// Throws InputError on malformed numbers, and comments or strings without an end.
  Token next();
  /// The rest of the line is not PTX proper (.loc, .file).
  void skip_line();
  /// The next character that is neither blank nor comment, without taking it; NUL at the end.
  char peek_character();

  [[noreturn]] void fail(unsigned line, unsigned column, const std::string& message) const;
  const std::string& file() const { return *file_; }

 private:
  void skip_blank();
  void skip_block_comment();
  void take_word();
  void take_number(Token& token);
  void take_bit_pattern(Token& token, unsigned digits);
  void take_integer(Token& token, unsigned base);
  void take_decimal_float(Token& token);
  void take_string(const Token& token);
  unsigned column_of(const char* at) const { return static_cast<unsigned>(at - line_start_) + 1; }

  const char* at_;
  const char* end_;
  const char* line_start_;
  unsigned line_ = 1;
  const std::string* file_;
};

}  // namespace raddle::ptx
