// C++ text as tokens with matched brackets: as much of the language as the rules about statements
// and names need. Preprocessor lines are left out, so the bodies of macros are not looked at.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::house {

struct Token {
  enum class Kind { Word, Number, Literal, Sign } kind = Kind::Sign;
  std::string_view text;
  unsigned line = 0;  ///< from 1
};

class Tokens {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// `code`: as of code_of(). It must outlive the tokens.
  explicit Tokens(std::string_view code);
  std::size_t size() const { return all_.size(); }
  const Token& operator[](std::size_t at) const { return all_[at]; }
  bool is(std::size_t at, std::string_view text) const {
    return at < all_.size() && all_[at].text == text;
  }
  bool is_word(std::size_t at) const {
    return at < all_.size() && all_[at].kind == Token::Kind::Word;
  }
  /// The other one of a pair of (), [] or {}, and of the <> of template arguments; kNone of any
  /// other token, a `<` that compares among them.
  std::size_t partner(std::size_t at) const { return partner_[at]; }

 private:
  void match_brackets();
  void match_angles();
  std::size_t end_of_angles(std::size_t open) const;

  std::vector<Token> all_;
  std::vector<std::size_t> partner_;
};

/// A word that no type and no name can be.
bool is_keyword(std::string_view word);

}  // namespace raddle::house
