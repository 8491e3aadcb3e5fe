#include "raddle/report/source_texts.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/report/json_member.h"

namespace raddle::report {

namespace {
using Json = nlohmann::ordered_json;

/// Without the blanks around it, and with a blank for what a terminal would obey.
std::string trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t"), to = text.find_last_not_of(" \t\r");
  if (from == std::string_view::npos) return "";
  std::string out(text.substr(from, to - from + 1));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return valid_utf8(out);
}

/// The names come from whoever made the PTX or the recording: nothing but source files is opened.
bool is_source(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 9> kEndings = {".cu",  ".cuh", ".h",   ".hpp", ".hh",
                                                        ".cpp", ".c",   ".inl", ".inc"};
  std::error_code error;
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end() &&
         std::filesystem::is_regular_file(file, error);
}
}  // namespace

std::string SourceTexts::line(const std::string& file, std::size_t number) {
  const std::vector<std::string>& lines = lines_of(file);
  return number == 0 || number > lines.size() ? "" : lines[number - 1];
}

const std::vector<std::string>& SourceTexts::lines_of(const std::string& file) {
  const auto [at, fresh] = files_.try_emplace(file);
  if (!fresh || !is_source(file)) return at->second;
  constexpr std::uint64_t kMaximum = 16u << 20;
  std::string text;
  try {
    text = read_text(file, kMaximum, "a source file");
  } catch (const InputError&) {
    return at->second;
  }
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    at->second.push_back(trimmed(std::string_view(text).substr(from, end - from)));
    from = end + 1;
  }
  return at->second;
}

Json source_texts(const std::vector<const Json*>& results) {
  Json out = Json::object();
  SourceTexts texts;
  for (const Json* result : results) {
    for (const Json& kernel : member(member(member(*result, "analysis"), "source"), "kernels"))
      for (const Json& line : kernel.value("lines", Json::array())) {
        if (!member(line, "source").is_object()) continue;
        const auto file = line["source"]["file"].get<std::string>();
        const auto number = line["source"]["line"].get<std::size_t>();
        if (const std::string text = texts.line(file, number); !text.empty())
          out[file][std::to_string(number)] = text;
      }
  }
  return out;
}

}  // namespace raddle::report
