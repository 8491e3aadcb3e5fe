#include "house/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace raddle::house {

namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Longer ones first. `>>` is two signs, as template arguments may end with it.
constexpr std::array<std::string_view, 24> kSigns = {
    "<<=", ">>=", "<=>", "...", "->*", "::", "->", "++", "--", "+=", "-=", "*=",
    "/=",  "%=",  "&=",  "|=",  "^=",  "&&", "||", "==", "!=", "<=", ">=", "<<"};

std::size_t length_of_sign(std::string_view rest) {
  for (const std::string_view sign : kSigns)
    if (rest.starts_with(sign)) return sign.size();
  return 1;
}

/// The end of a preprocessor line with all that it goes on in.
std::size_t end_of_directive(std::string_view code, std::size_t at) {
  while (at < code.size() && (code[at] != '\n' || code[at - 1] == '\\')) ++at;
  return at;
}

}  // namespace

bool is_keyword(std::string_view word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"return",   "throw",    "delete",   "new",   "else",     "case",     "default",
       "goto",     "if",       "for",      "while", "do",       "switch",   "try",
       "catch",    "break",    "sizeof",   "using", "co_yield", "co_await", "co_return",
       "continue", "operator", "requires", "this",  "public",   "private",  "protected"});
  return std::ranges::find(kWords, word) != kWords.end();
}

Tokens::Tokens(std::string_view code) {
  unsigned line = 1;
  bool line_begins = true;
  for (std::size_t at = 0; at < code.size();) {
    const char first = code[at];
    const std::size_t begin = at;
    if (first == '\n') {
      ++line;
      ++at;
      line_begins = true;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(first)) != 0) {
      ++at;
      continue;
    }
    if (first == '#' && line_begins) {
      at = end_of_directive(code, at);
      line += static_cast<unsigned>(std::ranges::count(code.substr(begin, at - begin), '\n'));
      continue;
    }
    line_begins = false;
    Token token;
    token.line = line;
    if (first == '"' || first == '\'') {
      token.kind = Token::Kind::Literal;
      at = std::min(code.find(first, at + 1), code.size() - 1) + 1;
    } else if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      token.kind = Token::Kind::Number;
      while (at < code.size() && (is_letter(code[at]) || code[at] == '\'' || code[at] == '.')) ++at;
    } else if (is_letter(first)) {
      token.kind = Token::Kind::Word;
      while (at < code.size() && is_letter(code[at])) ++at;
    } else {
      at += length_of_sign(code.substr(at));
    }
    token.text = code.substr(begin, at - begin);
    all_.push_back(token);
  }
  partner_.assign(all_.size(), kNone);
  match_brackets();
  match_angles();
}

void Tokens::match_brackets() {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < all_.size(); ++at) {
    if (all_[at].kind != Token::Kind::Sign) continue;
    const char sign = all_[at].text.front();
    if (all_[at].text.size() != 1) continue;
    if (sign == '(' || sign == '[' || sign == '{') open.push_back(at);
    if (sign != ')' && sign != ']' && sign != '}') continue;
    if (open.empty()) continue;
    partner_[at] = open.back();
    partner_[open.back()] = at;
    open.pop_back();
  }
}

void Tokens::match_angles() {
  for (std::size_t at = 1; at < all_.size(); ++at) {
    if (!is(at, "<") || partner_[at] != kNone || is(at - 1, "operator")) continue;
    const bool of_lambda = is(at - 1, "]") && (is(at + 1, "class") || is(at + 1, "typename"));
    if (!is_word(at - 1) && !of_lambda) continue;
    const std::size_t end = end_of_angles(at);
    if (end == kNone) continue;
    partner_[at] = end;
    partner_[end] = at;
  }
}

/// kNone when the sign at `open` compares.
std::size_t Tokens::end_of_angles(std::size_t open) const {
  const bool parameters = is(open - 1, "template");
  for (std::size_t at = open + 1, depth = 1; at < all_.size(); ++at) {
    const std::string_view text = all_[at].text;
    if (text == "(" || text == "[") {
      at = partner_[at];
      if (at == kNone) return kNone;
    } else if (text == "<") {
      ++depth;
    } else if (text == ">" && --depth == 0) {
      static constexpr auto kAfter = std::to_array<std::string_view>(
          {"(", ")", "{", "}", "::", ">", ",", ";", "&", "*", "&&", "...", "="});
      const bool follows = at + 1 >= all_.size() || is_word(at + 1) ||
                           std::ranges::find(kAfter, all_[at + 1].text) != kAfter.end();
      return parameters || follows ? at : kNone;
    } else if (text == "&&" || text == "||" || text == "=" || text == "?") {
      const bool reference = text == "&&" && (is(at + 1, ">") || is(at + 1, ","));
      if (!parameters && !reference) return kNone;
    } else if (text == ";" || text == "{" || text == "}" || text == ")" || text == "]" ||
               text == "==" || text == "++" || text == "<<" || text == "+=") {
      return kNone;
    }
  }
  return kNone;
}

}  // namespace raddle::house
