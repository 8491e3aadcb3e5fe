#include "house/statements.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "house/tokens.h"

namespace raddle::house {

namespace {

constexpr unsigned kLongFunction = 30;  // lines
constexpr auto kAllowedNames = std::to_array<std::string_view>({"i", "j", "k", "x", "y", "z", "n"});

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::ranges::find(list, text) != std::end(list);
}

/// What a declaration names.
struct Name {
  std::string_view text;
  unsigned line = 0;
};

/// Reads declarations: types by their form, `T`, `a::B<C>`, `const auto&`, and a name behind them.
class DeclarationReader {
 public:
  /// What may stand behind the name in a statement, in the head of a loop or condition, and in a
  /// list of parameters.
  enum class In { Statement, Head, Parameters };

  DeclarationReader(const Tokens& tokens, In in) : tokens_(tokens), in_(in) {}
  /// The names that [begin, end) declares; empty when it is no declaration.
  std::vector<Name> names(std::size_t begin, std::size_t end) const {
    std::size_t at = behind_type(begin, end);
    const bool deduced = at != Tokens::kNone && at > begin && tokens_.is(at - 1, "auto");
    std::vector<Name> out;
    while (at != Tokens::kNone && at < end) {
      at = behind_signs(at, end);
      if (deduced && tokens_.is(at, "[") && out.empty() && tokens_.partner(at) < end) {
        for (std::size_t one = at + 1; one < tokens_.partner(at); ++one)
          if (tokens_.is_word(one)) out.push_back(name_of(one));
        return out;
      }
      if (at >= end || !tokens_.is_word(at) || is_keyword(tokens_[at].text)) return out;
      if (!may_follow(at + 1, end)) return out;
      out.push_back(name_of(at));
      at = behind_comma(at + 1, end);
    }
    return out;
  }

 private:
  Name name_of(std::size_t at) const { return {tokens_[at].text, tokens_[at].line}; }

  bool may_follow(std::size_t at, std::size_t end) const {
    if (at >= end) return in_ != In::Head;
    static constexpr auto kAlways = std::to_array<std::string_view>({"=", "{", ":"});
    static constexpr auto kElse = std::to_array<std::string_view>({"(", "[", ",", ";"});
    const std::string_view text = tokens_[at].text;
    return contains(kAlways, text) || (in_ != In::Head && contains(kElse, text));
  }
  std::size_t behind_comma(std::size_t at, std::size_t end) const {
    for (; at < end; ++at) {
      if (tokens_.is(at, ",")) return at + 1;
      if (tokens_.is(at, ";")) return end;
      if (tokens_.partner(at) != Tokens::kNone && tokens_.partner(at) > at)
        at = tokens_.partner(at);
    }
    return end;
  }
  std::size_t behind_signs(std::size_t at, std::size_t end) const {
    while (at < end && (tokens_.is(at, "*") || tokens_.is(at, "&") || tokens_.is(at, "&&") ||
                        tokens_.is(at, "const") || tokens_.is(at, "...")))
      ++at;
    return at;
  }
  std::size_t behind_type(std::size_t at, std::size_t end) const {
    static constexpr auto kQualifiers = std::to_array<std::string_view>(
        {"const", "constexpr", "static", "inline", "mutable", "volatile", "thread_local", "extern",
         "typename", "struct", "class", "virtual", "explicit", "constinit", "register"});
    static constexpr auto kBuiltIn = std::to_array<std::string_view>(
        {"unsigned", "signed", "long", "short", "int", "char", "double", "float"});
    while (at < end &&
           (contains(kQualifiers, tokens_[at].text) || tokens_[at].kind == Token::Kind::Literal))
      ++at;
    bool built_in = false;
    while (at < end && contains(kBuiltIn, tokens_[at].text)) {
      built_in = true;
      ++at;
    }
    if (built_in) return at;
    if (tokens_.is(at, "::")) ++at;
    while (at < end) {
      if (!tokens_.is_word(at) || is_keyword(tokens_[at].text)) return Tokens::kNone;
      ++at;
      if (tokens_.is(at, "<") && tokens_.partner(at) != Tokens::kNone) at = tokens_.partner(at) + 1;
      if (!tokens_.is(at, "::")) return at;
      ++at;
    }
    return Tokens::kNone;
  }

  const Tokens& tokens_;
  In in_;
};

/// Walks over the statements of a file and finds what breaks either rule.
class StatementWalker {
 public:
  explicit StatementWalker(const Tokens& tokens) : tokens_(tokens) {}
  void run() { block(0, tokens_.size()); }

  std::vector<unsigned> chains;  ///< lines
  std::vector<Name> letters;

 private:
  using In = DeclarationReader::In;
  enum class Brace { Values, Lambda, Function, Class, Space };

  void block(std::size_t at, std::size_t end) {
    while (at < end) at = statement(at, end);
  }

  /// Looks at what begins at `at`; where the next one does.
  std::size_t statement(std::size_t at, std::size_t end) {
    static constexpr auto kHeads =
        std::to_array<std::string_view>({"if", "for", "while", "switch", "catch"});
    static constexpr auto kAlone = std::to_array<std::string_view>({"else", "do", "try"});
    const std::string_view first = tokens_[at].text;
    if (first == ";" || first == "}" || contains(kAlone, first)) return at + 1;
    if (first == "{" && tokens_.partner(at) != Tokens::kNone) {
      block(at + 1, tokens_.partner(at));
      return tokens_.partner(at) + 1;
    }
    if (first == "case" || first == "default") return behind_label(at, end);
    if (is_access(at)) return at + 2;
    if (contains(kHeads, first)) return head(at, end);
    if (first == "template" && tokens_.is(at + 1, "<") && tokens_.partner(at + 1) != Tokens::kNone)
      return tokens_.partner(at + 1) + 1;
    return plain(at, end);
  }

  bool is_access(std::size_t at) const {
    static constexpr auto kAccess =
        std::to_array<std::string_view>({"public", "private", "protected"});
    return contains(kAccess, tokens_[at].text) && tokens_.is(at + 1, ":");
  }
  std::size_t behind_label(std::size_t at, std::size_t end) const {
    for (; at < end; ++at) {
      if (tokens_.is(at, ":")) return at + 1;
      if (tokens_.partner(at) != Tokens::kNone && tokens_.partner(at) > at)
        at = tokens_.partner(at);
      if (tokens_.is(at, ";")) break;  // = default;
    }
    return at + 1;
  }

  std::size_t head(std::size_t at, std::size_t end) {
    const bool handler = tokens_.is(at, "catch");
    std::size_t open = at + 1;
    if (tokens_.is(open, "constexpr")) ++open;
    if (!tokens_.is(open, "(") || tokens_.partner(open) == Tokens::kNone) return open;
    const std::size_t close = std::min(tokens_.partner(open), end);
    note(open + 1, close, handler ? In::Parameters : In::Head);
    inside(open + 1, close);
    return close + 1;
  }

  /// An expression, a declaration or a definition.
  std::size_t plain(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> commas;
    for (std::size_t at = begin; at < end; ++at) {
      const std::size_t partner = tokens_.partner(at);
      if (tokens_.is(at, ";")) {
        finish(begin, at, commas);
        return at + 1;
      }
      if (tokens_.is(at, ",")) commas.push_back(at);
      if (partner == Tokens::kNone || partner < at) continue;
      if (!tokens_.is(at, "{")) {
        if (!tokens_.is(at, "<")) inside(at + 1, partner);
        at = partner;
        continue;
      }
      switch (kind_of(at, begin)) {
        case Brace::Values:
          inside(at + 1, partner);
          break;
        case Brace::Lambda:
          lambda(at);
          break;
        case Brace::Function:
          function(begin, at);
          return partner + 1;
        case Brace::Class:
          members(at + 1, partner);
          break;
        case Brace::Space:
          block(at + 1, partner);
          return partner + 1;
      }
      at = partner;
    }
    return end;
  }

  void finish(std::size_t begin, std::size_t end, const std::vector<std::size_t>& commas) {
    note(begin, end, In::Statement);
    if (!commas.empty() && !declares(begin, end) && acts(begin, end))
      chains.push_back(tokens_[commas.front()].line);
  }
  bool declares(std::size_t begin, std::size_t end) const {
    static constexpr auto kFirst = std::to_array<std::string_view>(
        {"using", "typedef", "friend", "static_assert", "extern", "class", "struct", "enum",
         "union", "namespace", "concept", "alignas"});
    return contains(kFirst, tokens_[begin].text) ||
           !DeclarationReader(tokens_, In::Statement).names(begin, end).empty();
  }
  /// Is there something in it that a statement does: assigns, counts, calls?
  bool acts(std::size_t begin, std::size_t end) const {
    static constexpr auto kActs = std::to_array<std::string_view>(
        {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "("});
    for (std::size_t at = begin; at < end; ++at)
      if (contains(kActs, tokens_[at].text)) return true;
    return false;
  }

  // --- braces -----------------------------------------------------------------------------------

  Brace kind_of(std::size_t open, std::size_t begin) const {
    const std::size_t last = before_body(open);
    if (last == Tokens::kNone) return Brace::Values;
    if (is_introducer(last)) return Brace::Lambda;
    if (tokens_.is(last, ")")) {
      std::size_t before = tokens_.partner(last) - 1;
      if (tokens_.is(before, ">") && tokens_.partner(before) != Tokens::kNone)
        before = tokens_.partner(before) - 1;
      if (is_introducer(before)) return Brace::Lambda;
      return tokens_.is(before, "requires") ? Brace::Values : Brace::Function;
    }
    if (tokens_.is(last, "}")) return Brace::Function;  // behind the last member's own
    for (std::size_t at = begin; at < open; ++at) {
      const std::string_view text = tokens_[at].text;
      if (text == "enum" || text == "=" || text == "(") return Brace::Values;
      if (text == "namespace" || text == "extern") return Brace::Space;
      if (text == "class" || text == "struct" || text == "union") return Brace::Class;
    }
    return Brace::Values;
  }
  /// The token before a body that what is said of a function does not count: `) const -> T {`.
  std::size_t before_body(std::size_t open) const {
    static constexpr auto kSaid = std::to_array<std::string_view>(
        {"mutable", "noexcept", "const", "constexpr", "override", "final", "&", "&&"});
    if (open == 0) return Tokens::kNone;
    std::size_t type = open - 1;
    while (type > 0 && !tokens_.is(type, "->")) {
      const bool angle = tokens_.is(type, ">") && tokens_.partner(type) != Tokens::kNone;
      if (angle) type = tokens_.partner(type);
      else if (!tokens_.is_word(type) && !tokens_.is(type, "::") && !tokens_.is(type, "*") &&
               !tokens_.is(type, "&"))
        break;
      --type;
    }
    std::size_t at = tokens_.is(type, "->") && type > 0 ? type - 1 : open - 1;
    while (at > 0 && contains(kSaid, tokens_[at].text)) --at;
    return at;
  }
  /// The ] of a lambda's captures.
  bool is_introducer(std::size_t close) const {
    if (!tokens_.is(close, "]") || tokens_.partner(close) == Tokens::kNone) return false;
    const std::size_t open = tokens_.partner(close);
    if (open == 0) return true;
    if (tokens_.is_word(open - 1)) return is_keyword(tokens_[open - 1].text);
    return !tokens_.is(open - 1, ")") && !tokens_.is(open - 1, "]");
  }

  /// What stands in brackets: only the bodies of lambdas have statements.
  void inside(std::size_t at, std::size_t end) {
    for (; at < end; ++at) {
      if (!tokens_.is(at, "{") || tokens_.partner(at) == Tokens::kNone) continue;
      if (kind_of(at, at) == Brace::Lambda) {
        lambda(at);
        at = tokens_.partner(at);
      }
    }
  }
  void lambda(std::size_t open) {
    const std::size_t close = tokens_.partner(open), last = before_body(open);
    unsigned statements = 0;
    for (std::size_t at = open; at < close; ++at) statements += tokens_.is(at, ";") ? 1 : 0;
    if (statements > 1 && tokens_.is(last, ")")) parameters(tokens_.partner(last) + 1, last);
    block(open + 1, close);
  }
  void members(std::size_t begin, std::size_t end) {
    const bool outer = std::exchange(in_long_function_, false);
    block(begin, end);
    in_long_function_ = outer;
  }
  void function(std::size_t begin, std::size_t open) {
    const std::size_t close = tokens_.partner(open);
    const bool outer = in_long_function_;
    in_long_function_ = outer || tokens_[close].line - tokens_[begin].line + 1 > kLongFunction;
    for (std::size_t at = begin; at < open && !tokens_.is(at, ":"); ++at) {
      if (!tokens_.is(at, "(") || tokens_.partner(at) == Tokens::kNone) continue;
      parameters(at + 1, tokens_.partner(at));
      at = tokens_.partner(at);
    }
    block(open + 1, close);
    in_long_function_ = outer;
  }

  // --- names ------------------------------------------------------------------------------------

  void parameters(std::size_t begin, std::size_t end) {
    std::size_t first = begin;
    for (std::size_t at = begin; at <= end; ++at) {
      if (at == end || tokens_.is(at, ",")) {
        note(first, at, In::Parameters);
        first = at + 1;
      } else if (tokens_.partner(at) != Tokens::kNone && tokens_.partner(at) > at) {
        at = tokens_.partner(at);
      }
    }
  }
  void note(std::size_t begin, std::size_t end, In in) {
    if (!in_long_function_ || begin >= end) return;
    for (const Name& name : DeclarationReader(tokens_, in).names(begin, end))
      if (name.text.size() == 1 && !contains(kAllowedNames, name.text)) letters.push_back(name);
  }

  const Tokens& tokens_;
  bool in_long_function_ = false;
};

std::string at_line(const SourceFile& file, unsigned line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

}  // namespace

Findings comma_chains(const SourceFile& file) {
  const std::string code = code_of(file.text);
  const Tokens tokens(code);
  StatementWalker walker(tokens);
  walker.run();
  Findings out;
  for (const unsigned line : walker.chains)
    out.push_back(at_line(file, line) + "statements joined by a comma: one statement a line");
  return out;
}

Findings one_letter_names(const SourceFile& file) {
  const std::string code = code_of(file.text);
  const Tokens tokens(code);
  StatementWalker walker(tokens);
  walker.run();
  Findings out;
  for (const Name& name : walker.letters)
    out.push_back(at_line(file, name.line) + "'" + std::string(name.text) +
                  "' in a function of more than 30 lines: expected a word");
  return out;
}

}  // namespace raddle::house
