// The parser's place in the token stream, and its words for what it expected there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "raddle/ptx/lexer.h"

namespace raddle::ptx {

class Cursor {
 public:
  Cursor(std::string_view text, const std::string& file) : lexer_(text, file) { advance(); }

  const Token& token() const { return token_; }
  void advance() { token_ = lexer_.next(); }
  /// The current token, having moved past it.
  Token take() {
    const Token taken = token_;
    advance();
    return taken;
  }
  bool accept(char mark) {
    if (!token_.is(mark)) return false;
    advance();
    return true;
  }
  bool accept_directive(std::string_view name) {
    if (!token_.is_directive(name)) return false;
    advance();
    return true;
  }
  void expect(char mark) {
    if (!accept(mark)) fail_expected("'" + std::string(1, mark) + "'");
  }
  /// A word; `what` says which for the message ("a label").
  Token expect_word(const char* what) {
    if (token_.kind != Token::Kind::Word) fail_expected(what);
    return take();
  }
  /// Moves past the current token and the rest of its line, of which the first tokens go to `into`;
  /// returns how many these are.
  std::size_t take_line(std::span<Token> into);
  /// Skips "( ... )" or "{ ... }" whatever it holds; the current token must be `open`.
  void skip_balanced(char open, char close);
  /// Skips past the next ';', as after .pragma.
  void skip_statement();
  /// Skips ".section NAME { ... }": DWARF, of which nothing runs.
  void skip_section();
  /// The character after the current token, blanks and comments left out.
  char character_after() { return lexer_.peek_character(); }

  /// "expected WHAT, found 'token'" at the current token.
  [[noreturn]] void fail_expected(const std::string& what) const;
  [[noreturn]] void fail_at(const Token& token, const std::string& message) const {
    lexer_.fail(token.line, token.column, message);
  }
  [[noreturn]] void fail_at(unsigned line, unsigned column, const std::string& message) const {
    lexer_.fail(line, column, message);
  }

 private:
  Lexer lexer_;
  Token token_;
};

}  // namespace raddle::ptx
