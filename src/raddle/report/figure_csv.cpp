#include "raddle/report/figure.h"

namespace raddle::report {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string column_name(const Series& series) {
  return series.stack.empty() ? series.name : series.stack + " / " + series.name;
}

}  // namespace

std::string figure_csv(const Figure& figure) {
  std::string out = quoted(figure.x_label.empty() ? "x" : figure.x_label);
  for (const Series& series : figure.series) {
    out += "," + quoted(column_name(series));
    if (series.has_stated()) out += "," + quoted(column_name(series) + " (stated)");
  }
  out += "\n";
  for (std::size_t i = 0; i < figure.x_names.size(); ++i) {
    out += quoted(figure.x_names[i]);
    for (const Series& series : figure.series) {
      out += "," + quoted(to_text(series.values[i]));
      if (series.has_stated()) out += "," + quoted(to_text(series.stated[i]));
    }
    out += "\n";
  }
  return out;
}

}  // namespace raddle::report
