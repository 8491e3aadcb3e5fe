#include "raddle/sim/validate/kernel_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "raddle/base/demangle.h"

namespace raddle::sim {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Where the parameters begin, at the '(' that stands in no template argument and opens no
/// "(anonymous namespace)"; else the end.
std::size_t parameters_of(std::string_view name) {
  int angles = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++angles;
    if (name[i] == '>' && angles > 0) --angles;
    if (name[i] == '(' && angles == 0 && i > 0 && (is_word(name[i - 1]) || name[i - 1] == '>'))
      return i;
  }
  return name.size();
}

/// Behind the return type: what stands behind the last blank outside of all brackets.
std::string_view without_return_type(std::string_view name) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(' || name[i] == '[') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == ']') --depth;
    if (name[i] == ' ' && depth == 0) begin = i + 1;
  }
  return name.substr(begin);
}

/// "256u", "2ul" -> "256", "2": what a number's type is stands in the function's type.
std::string without_suffixes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins =
        std::isdigit(static_cast<unsigned char>(text[i])) != 0 && (i == 0 || !is_word(text[i - 1]));
    if (!begins) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::size_t digits = end;
    while (digits > i && (text[digits - 1] == 'u' || text[digits - 1] == 'l')) --digits;
    out.append(text.substr(i, digits - i));
    i = end;
  }
  return out;
}

/// The types that NVIDIA's tools cast template arguments to.
constexpr auto kCasts = std::to_array<std::string_view>(
    {"(bool)", "(char)", "(signed char)", "(unsigned char)", "(short)", "(unsigned short)", "(int)",
     "(unsigned int)", "(long)", "(unsigned long)", "(long long)", "(unsigned long long)"});

std::string in_one_spelling(std::string text) {
  replace_all(text, "(anonymous namespace)", "<unnamed>");
  for (const std::string_view cast : kCasts) replace_all(text, cast, "");
  text = without_suffixes(text);
  for (const auto& [word, number] : {std::pair("true", "1"), std::pair("false", "0")})
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
      const std::size_t end = at + std::string_view(word).size();
      if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
        text.replace(at, end - at, number);
    }
  std::erase(text, ' ');
  return text;
}

/// "<unnamed>::add<float,256>" -> "add".
std::string base_of(std::string_view full) {
  int angles = 0;
  std::size_t begin = 0, end = full.size();
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i] == '<') {
      if (angles == 0) end = i;
      ++angles;
    }
    if (full[i] == '>' && angles > 0) --angles;
    if (angles == 0 && full[i] == ':') {
      begin = i + 1;
      end = full.size();
    }
  }
  return std::string(full.substr(begin, end < begin ? std::string_view::npos : end - begin));
}

}  // namespace

KernelName kernel_name(std::string_view written) {
  KernelName out;
  out.written = std::string(written);
  const std::string readable = demangled(written);
  const std::string_view all = readable;
  const std::string_view function = all.substr(0, parameters_of(all));
  out.full = in_one_spelling(std::string(without_return_type(function)));
  out.base = base_of(out.full);
  out.bare = out.full == out.base && function.size() == all.size();
  return out;
}

NameMatch match(const KernelName& a, const KernelName& b) {
  if (a.written == b.written) return NameMatch::Same;
  if (a.full == b.full) return NameMatch::Full;
  return a.base == b.base ? NameMatch::Base : NameMatch::None;
}

}  // namespace raddle::sim
