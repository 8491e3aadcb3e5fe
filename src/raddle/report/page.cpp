#include "raddle/report/page.h"

#include "raddle/base/error.h"
#include "raddle/base/json.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {
constexpr std::string_view kPlaceholder = "/*RADDLE_DATA*/";
/// Inside <noscript>.
constexpr std::string_view kTable = "<!--RADDLE_TABLE-->";
}  // namespace

std::string filled(Page page, const Json& data, const std::string& without_scripts) {
  const std::string_view html = page_template(page);
  const std::size_t at = html.find(kPlaceholder);
  RADDLE_ASSERT(at != std::string_view::npos);
  std::string out(html.substr(0, at));
  if (const std::size_t place = out.find(kTable); place != std::string::npos)
    out.replace(place, kTable.size(), without_scripts);
  // A '<' occurs only inside strings of the JSON text; escaped, neither "</script" nor "<!--" can
  // appear.
  for (const char c : text_of(data)) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  out += html.substr(at + kPlaceholder.size());
  return out;
}

std::string text_of(const Json& json) { return json_dump(json); }

}  // namespace raddle::report
