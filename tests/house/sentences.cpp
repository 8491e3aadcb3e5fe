#include "house/sentences.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>

namespace raddle::house {

namespace {

/// Prose that ends a sentence where it ends: a paragraph, an item, a heading, or a cell. A cell may
/// hold a list, so that a semicolon ends a sentence there, too.
struct Block {
  std::string text;
  unsigned line = 0;
  bool cell = false;
};

constexpr std::array<std::string_view, 16> kAbbreviations = {
    "e.g.", "i.e.",  "cf.", "vs.",     "fig.",   "figs.", "sec.", "no.",
    "eq.",  "resp.", "al.", "approx.", "trans.", "dr.",   "ed.",  "vol."};

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  const std::size_t last = text.find_last_not_of(" \t\r");
  return std::string(text.substr(first, last - first + 1));
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view s) { return text.starts_with(s); });
}

/// What follows the mark of a list item ("* x", "- x", "3. x"); nothing where `line` is none.
std::optional<std::string> item_text(const std::string& line) {
  static const std::regex item(R"((?:[*+-]|\d+[.)])\s+(.*))");
  std::smatch match;
  if (!std::regex_match(line, match, item)) return std::nullopt;
  return match[1].str();
}

/// The cells of a row; a bar in a code span or behind a backslash divides nothing.
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells(1);
  bool code = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '`') code = !code;
    const bool escaped = i > 0 && row[i - 1] == '\\';
    if (row[i] == '|' && !code && !escaped) cells.emplace_back();
    else cells.back() += row[i];
  }
  return cells;
}

/// Divides a page into blocks, line by line.
class Divider {
 public:
  void add(const std::string& raw, unsigned number) {
    const std::string line = trimmed(raw);
    if (starts_with_any(line, {"```", "~~~"})) {
      close();
      fenced_ = !fenced_;
      return;
    }
    if (fenced_) return;
    if (line.empty() || line.starts_with("<!--")) return close();
    if (indented_code(raw)) return;
    if (line.starts_with('#'))
      return alone(line.substr(line.find_first_not_of('#')), number, false);
    if (line.starts_with('|')) {
      for (const std::string& cell : cells_of(line)) alone(cell, number, true);
      return;
    }
    if (const auto text = item_text(line)) {
      close();
      in_list_ = true;
      open_ = {*text, number, false};
    } else if (open_) {
      open_->text += ' ' + line;
    } else {
      in_list_ = in_list_ && raw.starts_with(' ');
      open_ = {line, number, false};
    }
  }

  std::vector<Block> blocks() {
    close();
    return std::move(blocks_);
  }

 private:
  bool indented_code(const std::string& raw) const {
    return !open_ && !in_list_ && raw.starts_with("    ");
  }

  void alone(const std::string& text, unsigned number, bool cell) {
    close();
    in_list_ = false;
    blocks_.push_back({text, number, cell});
  }

  void close() {
    if (open_) blocks_.push_back(*open_);
    open_.reset();
  }

  std::vector<Block> blocks_;
  std::optional<Block> open_;
  bool fenced_ = false;
  bool in_list_ = false;
};

/// Code spans as one word, links as their text.
std::string plain(const std::string& text) {
  static const std::regex code("``.*?``|`[^`]*`");
  static const std::regex link(R"(!?\[([^\]]*)\]\([^)]*\))");
  return std::regex_replace(std::regex_replace(text, code, "`"), link, "$1");
}

bool has_letter_or_digit(std::string_view word) {
  return std::ranges::any_of(
      word, [](char c) { return c == '`' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// "e.g.", "Fig." and initials such as "M." end no sentence.
bool is_abbreviation(std::string word) {
  const std::size_t first = word.find_first_not_of("([\"*_");
  word = lower(first == std::string::npos ? "" : word.substr(first));
  const bool initial = word.size() == 2 && std::isalpha(static_cast<unsigned char>(word[0])) != 0;
  return initial || std::ranges::find(kAbbreviations, word) != kAbbreviations.end();
}

bool ends_sentence(const std::string& word, const std::string* next) {
  const std::size_t last = word.find_last_not_of("*_)]\"'");
  if (last == std::string::npos) return false;
  if (word[last] != '.' && word[last] != '!' && word[last] != '?') return false;
  if (is_abbreviation(word.substr(0, last + 1))) return false;
  if (next == nullptr) return true;
  const std::size_t first = next->find_first_not_of("(\"*_");
  return first == std::string::npos ||
         std::islower(static_cast<unsigned char>((*next)[first])) == 0;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

void divide(const Block& block, std::vector<Sentence>& out) {
  const std::vector<std::string> words = words_of(plain(block.text));
  const Sentence empty{.text = "", .words = 0, .line = block.line};
  Sentence sentence = empty;
  for (std::size_t i = 0; i < words.size(); ++i) {
    sentence.text += (sentence.text.empty() ? "" : " ") + words[i];
    sentence.words += has_letter_or_digit(words[i]) ? 1 : 0;
    const std::string* const next = i + 1 < words.size() ? &words[i + 1] : nullptr;
    const bool listed = block.cell && words[i].ends_with(';');
    if (next != nullptr && !listed && !ends_sentence(words[i], next)) continue;
    if (sentence.words > 0) out.push_back(sentence);
    sentence = empty;
  }
}

}  // namespace

std::vector<Sentence> sentences_of(const std::string& markdown) {
  Divider divider;
  std::istringstream lines(markdown);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) divider.add(line, number);
  std::vector<Sentence> out;
  for (const Block& block : divider.blocks()) divide(block, out);
  return out;
}

Findings long_sentences(const SourceFile& page, unsigned limit) {
  Findings out;
  for (const Sentence& sentence : sentences_of(page.text))
    if (sentence.words > limit)
      out.push_back(page.path + ":" + std::to_string(sentence.line) + ": a sentence of " +
                    std::to_string(sentence.words) + " words (at most " + std::to_string(limit) +
                    "): " + sentence.text);
  return out;
}

}  // namespace raddle::house
