#include "raddle/base/json.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "raddle/base/error.h"

namespace raddle {

namespace {

/// Line and column of a byte of the text.
Place place_of(std::string_view text, std::size_t byte, const std::string& file) {
  text = text.substr(0, std::min(byte, text.size()));
  const std::size_t line_begin = text.rfind('\n') + 1;  // 0 when there is none
  return {file, static_cast<unsigned>(std::ranges::count(text, '\n')) + 1,
          static_cast<unsigned>(text.size() - line_begin) + 1};
}

/// Counts brackets outside of texts; whether the rest is JSON is the parser's to say.
void check_depth(std::string_view text, const std::string& file) {
  unsigned depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth)
        throw InputError(place_of(text, i, file), "lists and objects are nested deeper than " +
                                                      std::to_string(kMaxJsonDepth));
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
}

/// Bytes of the UTF-8 character at the front, 0 when there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Too long for what it says, half of a pair, or beyond the last character.
  const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                     (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
  return wrong ? 0 : length;
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& file) {
  check_depth(text, file);
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    throw InputError(place_of(text, error.byte == 0 ? 0 : error.byte - 1, file), not_json(error));
  } catch (const nlohmann::ordered_json::exception& error) {
    throw InputError(Place{file}, not_json(error));
  }
}

std::string json_dump(const nlohmann::json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_dump(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string plain_words(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "the system gives this process no more memory";
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return (files->path1().empty() ? "a path" : files->path1().string()) + ": " +
           files->code().message();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error);
      system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "the system gives this process no more threads";
  std::string why = error.what();  // "[json.exception.type_error.302] type must be ..."
  if (why.starts_with("[json.exception"))
    if (const std::size_t from = why.find("] "); from != std::string::npos) why.erase(0, from + 2);
  return why.empty() ? "a failure that does not say what it is" : why;
}

std::string not_json(const std::exception& error) {
  std::string why = plain_words(error);  // "parse error at line 1, column 2: ..."
  if (const std::size_t from = why.find(": "); from != std::string::npos) why.erase(0, from + 2);
  return "is not JSON: " + why;
}

std::string valid_utf8(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

bool is_utf8(std::string_view text) { return valid_utf8(text) == text; }

}  // namespace raddle
