// Cuts an expression into words, numbers and signs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace raddle::lab {

struct Token {
  enum class Kind { Number, Name, Path, Sign, End } kind = Kind::End;
  std::string text;       ///< of a quoted path without its quotes
  double number = 0;      ///< of a number; 0.3 for "30%"
  std::size_t begin = 0;  ///< in the text, from 0
  std::size_t end = 0;
};

/// Ends with a Token of kind End. Throws ExpressionError.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace raddle::lab
