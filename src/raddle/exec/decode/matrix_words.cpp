#include "raddle/exec/decode/matrix_words.h"

namespace raddle::exec {

std::vector<std::string> dotted_words(const ptx::Instruction& inst) {
  std::vector<std::string> words{""};
  for (char c : inst.text()) {
    if (c == '.') words.emplace_back();
    else if (c != ' ' && c != '\t') words.back() += c;
  }
  return words;
}

}  // namespace raddle::exec
