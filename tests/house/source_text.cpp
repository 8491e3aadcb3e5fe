#include "house/source_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "raddle_paths.h"

namespace raddle::house {

namespace fs = std::filesystem;

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Walks over C++ text and blanks what is not code.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : out_(text) {}

  std::string run() {
    while (at_ < out_.size()) {
      if (starts("//")) blank_until("\n", false);
      else if (starts("/*")) blank_until("*/", true);
      else if (starts("R\"")) raw_string();
      else if (starts("#include")) at_ = std::min(out_.find('\n', at_), out_.size());
      else if (out_[at_] == '"') literal('"');
      else if (out_[at_] == '\'' && (at_ == 0 || !is_word(out_[at_ - 1]))) literal('\'');
      else ++at_;
    }
    return std::move(out_);
  }

 private:
  bool starts(std::string_view s) const { return out_.compare(at_, s.size(), s) == 0; }
  void blank_to(std::size_t end) {
    for (; at_ < std::min(end, out_.size()); ++at_)
      if (out_[at_] != '\n') out_[at_] = ' ';
  }
  void blank_until(const std::string& end, bool with_end) {
    const std::size_t found = out_.find(end, at_ + 2);
    blank_to(found == std::string::npos ? out_.size() : found + (with_end ? end.size() : 0));
  }
  void raw_string() {
    const std::size_t open = out_.find('(', at_);
    if (open == std::string::npos) return blank_to(out_.size());
    blank_until(")" + out_.substr(at_ + 2, open - at_ - 2) + "\"", true);
  }
  void literal(char quote) {
    std::size_t end = at_ + 1;
    while (end < out_.size() && out_[end] != quote && out_[end] != '\n')
      end += out_[end] == '\\' ? 2 : 1;
    ++at_;  // the quotes stay, so that the text still looks like code
    blank_to(end);
    ++at_;
  }

  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<SourceFile> sources(const std::string& folder) {
  const fs::path root = RADDLE_SOURCE_DIR;
  std::vector<SourceFile> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
    const fs::path extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".cc") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    out.push_back({fs::relative(entry.path(), root).generic_string(),
                   {std::istreambuf_iterator<char>(in), {}}});
  }
  std::ranges::sort(out, {}, &SourceFile::path);
  return out;
}

std::string code_of(std::string_view text) { return Blanker(text).run(); }

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> out;
  std::istringstream lines(code_of(text));
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", word);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    out.push_back({number, line.substr(open + 1, close - open - 1)});
  }
  return out;
}

std::vector<unsigned> lines_with(std::string_view code, std::string_view word) {
  std::vector<unsigned> out;
  unsigned line = 1;
  std::size_t counted = 0;
  for (std::size_t at = code.find(word); at != std::string_view::npos;
       at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && (is_word(code[at - 1]) || code[at - 1] == '.')) continue;
    if (end < code.size() && is_word(code[end])) continue;
    line += static_cast<unsigned>(std::ranges::count(code.substr(counted, at - counted), '\n'));
    counted = at;
    if (out.empty() || out.back() != line) out.push_back(line);
  }
  return out;
}

}  // namespace raddle::house
