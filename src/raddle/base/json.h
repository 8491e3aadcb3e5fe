// JSON from anywhere: one way to read it, and texts from anywhere that are to become JSON.
#pragma once
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace raddle {

/// Lists and objects within one another, at most. What reads, copies and writes documents calls
/// itself for each level. Ours have less than 20.
inline constexpr unsigned kMaxJsonDepth = 64;
/// Memory that a document takes for each byte of its text, at most ("[],[],[]" is the worst).
inline constexpr unsigned kJsonMemoryFactor = 32;

/// Throws InputError naming file, line and column: the text is no JSON, or too deep.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& file);

/// The text of a document; `indent` as of nlohmann's dump(). Never throws: texts may be names of
/// files, and bytes of them that are no UTF-8 become U+FFFD.
std::string json_dump(const nlohmann::json& json, int indent = -1);
std::string json_dump(const nlohmann::ordered_json& json, int indent = -1);

/// What an exception of a library says to a user: nlohmann's without the number and class in front;
/// a path before what the system says of it; no memory and no threads in words. Never empty.
std::string plain_words(const std::exception& error);

/// What an exception of nlohmann's parser says against a text, without the place it tells.
std::string not_json(const std::exception& error);

/// UTF-8 as it is; each byte that is none (a file name may hold any) as \xFF.
std::string valid_utf8(std::string_view text);
/// A name that is to come back from JSON or TOML must be.
bool is_utf8(std::string_view text);

}  // namespace raddle
