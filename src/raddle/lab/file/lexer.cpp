#include "raddle/lab/file/lexer.h"

#include <charconv>
#include <cmath>

#include "raddle/lab/file/expression.h"

namespace raddle::lab {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] void fail(std::size_t at, const std::string& message) {
  throw ExpressionError(message + " at character " + std::to_string(at + 1));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> out;
    do out.push_back(next());
    while (out.back().kind != Token::Kind::End);
    return out;
  }

 private:
  bool more() const { return at_ < text_.size(); }
  char here() const { return text_[at_]; }
  Token token(Token::Kind kind, std::size_t begin) const {
    return {kind, std::string(text_.substr(begin, at_ - begin)), 0, begin, at_};
  }

  Token next() {
    while (more() && (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')) ++at_;
    if (!more()) return {Token::Kind::End, "", 0, at_, at_};
    if (is_digit(here())) return number();
    if (is_letter(here())) return word();
    if (here() == '\'') return quoted();
    return sign();
  }

  Token number() {
    const std::size_t begin = at_;
    double value = 0;
    const auto parsed = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    if (parsed.ec != std::errc{} || !std::isfinite(value))
      fail(begin, "expected a number that can be held, found one that cannot");
    if (more() && is_letter(here())) fail(at_, "expected the end of a number, found a letter");
    if (more() && here() == '%') {
      value /= 100;
      ++at_;
    }
    Token out = token(Token::Kind::Number, begin);
    out.number = value;
    return out;
  }

  Token word() {
    const std::size_t begin = at_;
    bool path = false;
    while (more() && (is_letter(here()) || is_digit(here()) || here() == '.')) {
      if (here() == '.') {
        path = true;
        if (at_ + 1 == text_.size() || (!is_letter(text_[at_ + 1]) && !is_digit(text_[at_ + 1])))
          fail(at_, "expected a name behind the dot");
      }
      ++at_;
    }
    return token(path ? Token::Kind::Path : Token::Kind::Name, begin);
  }

  Token quoted() {
    const std::size_t begin = at_++;
    while (more() && here() != '\'') ++at_;
    if (!more()) fail(begin, "expected a closing quote for the one");
    ++at_;
    Token out = token(Token::Kind::Path, begin);
    out.text = out.text.substr(1, out.text.size() - 2);
    if (out.text.empty()) fail(begin, "expected a path between the quotes, found nothing");
    return out;
  }

  Token sign() {
    const std::size_t begin = at_;
    const char c = here();
    if (std::string_view("+-*/()[]{},:~<>=").find(c) == std::string_view::npos)
      fail(begin, c > ' ' && c < 127 ? std::string("there is no sign '") + c + "' in the language;"
                                     : std::string("a character that is no part of the language"));
    ++at_;
    if ((c == '<' || c == '>' || c == '=') && more() && here() == '=') ++at_;
    return token(Token::Kind::Sign, begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).all(); }

}  // namespace raddle::lab
