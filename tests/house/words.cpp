#include "house/words.h"

#include <cctype>
#include <set>
#include <sstream>

#include "house/tokens.h"

namespace raddle::house {

namespace {

bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream in(row);
  std::string cell;
  std::getline(in, cell, '|');  // what is before the first bar
  while (std::getline(in, cell, '|')) cells.push_back(trimmed(cell));
  return cells;
}

/// Whether `words` has those of `refused`, joined by '_', one after the other. A word with a dash
/// behind it counts in front of a name only: most_warps, but at_most.
bool contains(const std::vector<std::string>& words, const std::string& refused) {
  std::string joined = "_";
  for (const std::string& word : words) joined += word + "_";
  if (refused.back() == '-')
    return joined.starts_with("_" + refused.substr(0, refused.size() - 1) + "_");
  return joined.find("_" + refused + "_") != std::string::npos;
}

/// The second argument of TEST, TEST_F, TEST_P: a sentence.
bool names_a_test(const Tokens& tokens, std::size_t at) {
  if (at < 4 || !tokens.is(at - 1, ",") || !tokens.is(at - 3, "(")) return false;
  const std::string_view macro = tokens[at - 4].text;
  return macro.starts_with("TEST") || macro.starts_with("TYPED_TEST") || macro.starts_with("RC_");
}

}  // namespace

std::map<std::string, std::string, std::less<>> refused_in_names(const std::string& glossary) {
  std::map<std::string, std::string, std::less<>> out;
  std::istringstream lines(glossary);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## Words we do not use";
    if (!inside || !line.starts_with("| ")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != 4 || cells[3] != "refused") continue;
    std::string word = cells[0];
    for (char& c : word)
      if (c == ' ') c = '_';
    out[word] = cells[1];
  }
  return out;
}

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_') {
      out.emplace_back();
      continue;
    }
    const bool after_small = i > 0 && !is_upper(name[i - 1]) && name[i - 1] != '_';
    const bool before_small = i + 1 < name.size() && is_lower(name[i + 1]);
    if (is_upper(c) && (after_small || (before_small && i > 0))) out.emplace_back();
    out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::erase(out, "");
  if (out.size() > 1 && out.front() == "k") out.erase(out.begin());
  return out;
}

Findings dialect(const SourceFile& file,
                 const std::map<std::string, std::string, std::less<>>& refused) {
  const std::string code = code_of(file.text);
  const Tokens tokens(code);
  std::set<std::string_view> seen;
  Findings out;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens.is_word(at) || !seen.insert(tokens[at].text).second) continue;
    if (names_a_test(tokens, at)) continue;
    const std::vector<std::string> words = words_of(tokens[at].text);
    for (const auto& [word, instead] : refused)
      if (contains(words, word))
        out.push_back(file.path + ":" + std::to_string(tokens[at].line) + ": '" +
                      std::string(tokens[at].text) + "': the glossary says '" + instead +
                      "' instead of '" + word + "'");
  }
  return out;
}

}  // namespace raddle::house
