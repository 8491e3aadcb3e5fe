#include "raddle/ptx/cursor.h"

namespace raddle::ptx {

void Cursor::fail_expected(const std::string& what) const {
  const bool at_end = token_.kind == Token::Kind::End;
  fail_at(token_,
          "expected " + what + ", found " + (at_end ? "end of file" : in_quotes(token_.text)));
}

std::size_t Cursor::take_line(std::span<Token> into) {
  const unsigned line = token_.line;
  const auto on_line = [&] { return token_.kind != Token::Kind::End && token_.line == line; };
  advance();
  std::size_t taken = 0;
  for (; taken < into.size() && on_line(); ++taken) into[taken] = take();
  if (on_line()) {
    lexer_.skip_line();
    advance();
  }
  return taken;
}

void Cursor::skip_balanced(char open, char close) {
  const Token first = token_;
  if (!first.is(open)) fail_expected(std::string("'") + open + "'");
  std::uint64_t depth = 0;
  do {
    if (token_.is(open)) ++depth;
    if (token_.is(close)) --depth;
    if (token_.kind == Token::Kind::End)
      fail_at(first, std::string("'") + open + "' without its '" + close + "'");
    advance();
  } while (depth != 0);
}

void Cursor::skip_statement() {
  while (!token_.is(';') && token_.kind != Token::Kind::End) advance();
  expect(';');
}

void Cursor::skip_section() {
  while (!token_.is('{')) {
    if (token_.kind == Token::Kind::End) fail_expected("'{'");
    advance();
  }
  skip_balanced('{', '}');
}

}  // namespace raddle::ptx
