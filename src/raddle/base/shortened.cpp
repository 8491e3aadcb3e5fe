#include "raddle/base/shortened.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace raddle {

namespace {

constexpr std::size_t kQuoted = 80, kWord = 512, kMessage = 4096;

/// The front of what is longer than `maximum` bytes, and that it goes on; between two characters of
/// UTF-8.
std::string cut_at(std::string_view text, std::size_t maximum) {
  if (text.size() <= maximum) return std::string(text);
  std::size_t end = maximum;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

/// Where the quotation that begins at `from` ends: at a quote with no letter behind it, so that
/// "it's" is none.
std::size_t end_of_quotation(std::string_view text, std::size_t from) {
  std::size_t end = text.find('\'', from);
  while (end != std::string_view::npos && end + 1 < text.size() &&
         std::isalnum(static_cast<unsigned char>(text[end + 1])) != 0)
    end = text.find('\'', end + 1);
  return end;
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || std::string_view(" (=:,[\n").find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

std::string shortened(const std::string& message) {
  if (message.size() <= kQuoted) return message;
  const std::string_view text = message;
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() <= kMessage;) {
    if (text[at] == ' ' || text[at] == '\n') {
      out += text[at++];
      continue;
    }
    const bool quoted = text[at] == '\'' && begins_word(text, at);
    if (const std::size_t end = quoted ? end_of_quotation(text, at + 1) : text.npos;
        end != text.npos) {
      out += "'" + cut_at(text.substr(at + 1, end - at - 1), kQuoted) + "'";
      at = end + 1;
      continue;
    }
    const std::size_t next = std::min(text.find_first_of(" \n'", at + 1), text.size());
    const std::string_view word = text.substr(at, next - at);
    out += word.size() <= kWord ? std::string(word) : cut_at(word, kQuoted);
    at = next;
  }
  return cut_at(out, kMessage);
}

}  // namespace raddle
