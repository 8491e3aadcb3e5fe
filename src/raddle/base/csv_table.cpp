#include "raddle/base/csv_table.h"

#include <algorithm>
#include <istream>

#include "raddle/base/error.h"

namespace raddle {

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') out.back() += line[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) out.emplace_back();
    else if (c != '\r') out.back() += c;
  }
  if (quoted) throw InputError("a quote is not closed");
  return out;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::optional<std::string> CsvLines::line() {
  std::string out;
  if (!std::getline(*in_, out)) return std::nullopt;
  number_ = ++read_;
  // The byte order mark that PowerShell and spreadsheets put before UTF-8.
  if (read_ == 1 && out.starts_with("\xef\xbb\xbf")) out.erase(0, 3);
  if (!out.empty() && out.back() == '\r') out.pop_back();
  return out;
}

std::optional<std::string> CsvLines::record() {
  constexpr std::size_t kMaxRecord = 1 << 20;
  std::optional<std::string> out = line();
  if (!out) return out;
  const unsigned first = number_;
  while (std::ranges::count(*out, '"') % 2 != 0) {
    const std::optional<std::string> more = line();
    number_ = first;
    if (!more || out->size() > kMaxRecord) throw InputError("a quote is not closed");
    *out += "\n" + *more;
  }
  return out;
}

}  // namespace raddle
