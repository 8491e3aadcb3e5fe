#include "house/references.h"

#include <filesystem>
#include <regex>

namespace raddle::house {

namespace {

using Each = std::function<void(const std::string& word, unsigned line)>;

void each(const std::string& text, const std::regex& pattern, const Each& f) {
  std::size_t counted = 0;
  unsigned line = 1;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    const auto position = static_cast<std::size_t>(at->position(1));
    for (; counted < position; ++counted) line += text[counted] == '\n' ? 1 : 0;
    f((*at)[1].str(), line);
  }
}

/// C++ without its literals, which may name what is nowhere; lines keep their numbers.
std::string without_literals(const SourceFile& file) {
  if (!file.path.ends_with(".cpp") && !file.path.ends_with(".h")) return file.text;
  static const std::regex literal(R"("(?:[^"\\\n]|\\.)*")");
  return std::regex_replace(file.text, literal, "\"\"");
}

std::string at(const SourceFile& file, unsigned line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

}  // namespace

std::set<std::string> codes_of(const std::string& page) {
  std::set<std::string> out;
  const std::regex row(R"((?:^|\n)\| ([AU]-[A-Z]\d+) \|)");
  each(page, row, [&](const std::string& code, unsigned) { out.insert(code); });
  return out;
}

Findings dangling_references(const SourceFile& file, const std::set<std::string>& codes,
                             const std::function<bool(const std::string& path)>& exists) {
  namespace fs = std::filesystem;
  Findings out;
  const fs::path folder = fs::path(file.path).parent_path();
  const std::string text = without_literals(file);
  static const std::regex document(R"((?:^|[^\w./-])((?:\.\./)*[\w-]+(?:/[\w-]+)*\.md)\b)");
  each(text, document, [&](const std::string& path, unsigned line) {
    const bool there = exists((folder / path).lexically_normal().string()) ||
                       exists(fs::path(path).lexically_normal().string()) ||
                       exists((fs::path("docs") / path).lexically_normal().string());
    if (!there) out.push_back(at(file, line) + "there is no document '" + path + "'");
  });
  static const std::regex outside(
      R"((?:^|[^\w/.-])((?:spec|facts|shared|review)/[\w/]+\.(?:md|csv|txt)))");
  each(text, outside, [&](const std::string& path, unsigned line) {
    if (!exists(path)) out.push_back(at(file, line) + "'" + path + "' is not in the repository");
  });
  static const std::regex code(R"((?:^|[^\w-])([AU]-[A-Z]\d+)\b)");
  each(text, code, [&](const std::string& name, unsigned line) {
    if (!codes.contains(name))
      out.push_back(at(file, line) + "docs/mechanisms has no entry '" + name + "'");
  });
  return out;
}

Findings missing_sources(const SourceFile& page,
                         const std::function<bool(const std::string& name)>& is_end_of_path) {
  Findings out;
  static const std::regex source(R"(`([\w./-]+\.(?:h|cpp|cc|def|ts|cmake|inc|S|toml|sh))`)");
  each(page.text, source, [&](const std::string& name, unsigned line) {
    if (!is_end_of_path(name)) out.push_back(at(page, line) + "there is no source '" + name + "'");
  });
  return out;
}

}  // namespace raddle::house
