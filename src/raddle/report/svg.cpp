#include "raddle/report/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <sstream>

namespace raddle::report {
namespace {

/// Hundredths of a pixel, without trailing zeros.
std::string px(double value) {
  const double rounded = std::round(value * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string points_of(const std::vector<std::pair<double, double>>& points) {
  std::string out;
  for (const auto& [x, y] : points) out += (out.empty() ? "" : " ") + px(x) + "," + px(y);
  return out;
}

std::string numbers(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : " ") + px(value);
  return out;
}

constexpr std::uint32_t kReplacement = 0xfffd;

/// The code point at `at`, which moves behind it; U+FFFD for a byte that begins none.
std::uint32_t next(std::string_view utf8, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(utf8[i]); };
  const std::uint32_t first = byte(at++);
  if (first < 0x80) return first;
  const unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
  if (more == 0 || first > 0xf4 || at + more > utf8.size()) return kReplacement;
  std::uint32_t point = first & (0x3fu >> more);
  for (unsigned i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return kReplacement;
    point = point << 6 | (byte(at + i) & 0x3fu);
  }
  constexpr std::uint32_t kMinimum[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < kMinimum[more] || point > 0x10ffff || surrogate) return kReplacement;
  at += more;
  return point;
}

bool is_blank(std::uint32_t point) {
  return point == '\t' || point == '\n' || point == '\r' || point == 0x2028 || point == 0x2029;
}

/// Controls that would make the rest of the text run the other way.
bool turns_direction(std::uint32_t point) {
  return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

/// Text and attribute content.
std::string escaped(std::string_view utf8) {
  std::string out;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t from = at;
    const std::uint32_t point = next(utf8, at);
    if (point == '&') out += "&amp;";
    else if (point == '<') out += "&lt;";
    else if (point == '>') out += "&gt;";
    else if (point == '"') out += "&quot;";
    else if (is_blank(point)) out += ' ';
    else if (turns_direction(point)) continue;
    else if (point == kReplacement) out += "\xef\xbf\xbd";
    else if (point >= 0x20 && point != 0xfffe && point != 0xffff)
      out += utf8.substr(from, at - from);
  }
  return out;
}

/// Advance in em, by kinds of letters (DejaVu Sans).
double advance(std::uint32_t point) {
  if (point >= 0x1100) return 1.0;  // Asian scripts and symbols
  if (point >= 0x80) return 0.66;
  const char c = static_cast<char>(point);
  const auto in = [c](std::string_view set) { return set.find(c) != std::string_view::npos; };
  if (in("ijlI.,:;'|! ")) return 0.34;
  if (in("frt()[]{}\"/\\-")) return 0.42;
  if (in("mwMW%@")) return 0.98;
  if ((c >= 'A' && c <= 'Z') || in("+=<>~#&")) return 0.76;
  return 0.63;
}

using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

/// Attributes without content are left out.
std::string element(std::string_view name, Attributes attributes, const std::string& content = "") {
  std::string out = "<" + std::string(name);
  for (const auto& [key, value] : attributes)
    if (!value.empty()) out += fmt::format(" {}=\"{}\"", key, value);
  return out + (content.empty() ? "/>\n" : fmt::format(">{}</{}>\n", content, name));
}

}  // namespace

void Svg::rect(double x, double y, double width, double height, std::string_view fill,
               std::string_view stroke) {
  shapes_ += element("rect", {{"x", px(x)},
                              {"y", px(y)},
                              {"width", px(width)},
                              {"height", px(height)},
                              {"fill", std::string(fill)},
                              {"stroke", std::string(stroke)}});
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
               std::string_view dashes) {
  polyline({{x1, y1}, {x2, y2}}, colour, width, dashes);
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour,
                   double width, std::string_view dashes) {
  shapes_ += element("polyline", {{"points", points_of(points)},
                                  {"fill", "none"},
                                  {"stroke", std::string(colour)},
                                  {"stroke-width", px(width)},
                                  {"stroke-dasharray", std::string(dashes)}});
}

void Svg::polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill,
                  std::string_view stroke, double width) {
  shapes_ += element("polygon", {{"points", points_of(points)},
                                 {"fill", std::string(fill)},
                                 {"stroke", std::string(stroke)},
                                 {"stroke-width", px(width)}});
}

void Svg::circle(double x, double y, double radius, std::string_view fill, std::string_view stroke,
                 double width, std::string_view tip) {
  shapes_ += element("circle",
                     {{"cx", px(x)},
                      {"cy", px(y)},
                      {"r", px(radius)},
                      {"fill", std::string(fill)},
                      {"stroke", std::string(stroke)},
                      {"stroke-width", px(width)}},
                     tip.empty() ? "" : element("title", {}, escaped(tip)));
}

void Svg::text(double x, double y, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  const std::string turned =
      style.turned == 0 ? "" : fmt::format("rotate({} {} {})", px(style.turned), px(x), px(y));
  shapes_ += element("text",
                     {{"x", px(x)},
                      {"y", px(y)},
                      {"font-size", px(style.size)},
                      {"fill", std::string(style.colour)},
                      {"text-anchor", std::string(style.anchor)},
                      {"font-weight", style.bold ? "bold" : ""},
                      {"transform", turned}},
                     escaped(text));
}

std::string Svg::hatch(std::string_view colour) {
  const std::string name = fmt::format("h{}", ++hatches_);
  definitions_ += element(
      "pattern",
      {{"id", name},
       {"width", "6"},
       {"height", "6"},
       {"patternUnits", "userSpaceOnUse"},
       {"patternTransform", "rotate(45)"}},
      element("rect", {{"width", "6"}, {"height", "6"}, {"fill", std::string(colour)}}) +
          element("rect", {{"width", "2"}, {"height", "6"}, {"fill", std::string(kPaper)}}));
  return fmt::format("url(#{})", name);
}

double Svg::heading(std::string_view title, double width) {
  constexpr double kSize = 15;
  double at = kMargin + 8;
  for (const std::string& line : wrapped(title, kSize, width - 2 * kMargin, true)) {
    text(kMargin, at, line, {.size = kSize, .bold = true});
    at += 19;
  }
  return at;
}

void Svg::group(std::string_view what, std::size_t series) {
  shapes_ += fmt::format("<g data-{}=\"{}\">\n", what, series);
}

std::string Svg::finish(double width, double height, std::string_view title,
                        const Layout& layout) const {
  const std::string definitions = definitions_.empty() ? "" : element("defs", {}, definitions_);
  const std::string ground = element(
      "rect", {{"width", px(width)}, {"height", px(height)}, {"fill", std::string(kPaper)}});
  const bool placed = layout.height > 0;
  return element(
      "svg",
      {{"xmlns", "http://www.w3.org/2000/svg"},
       {"width", px(width)},
       {"height", px(height)},
       {"viewBox", fmt::format("0 0 {} {}", px(width), px(height))},
       {"font-family", "DejaVu Sans, Verdana, sans-serif"},
       {"role", "img"},
       {"data-head", placed ? px(layout.head) : ""},
       {"data-plot", placed ? numbers({layout.left, layout.top, layout.width, layout.height}) : ""},
       {layout.rows ? "data-rows" : "data-columns", numbers(layout.centres)}},
      "\n" + element("title", {}, escaped(title)) + definitions + ground + shapes_);
}

double text_width(std::string_view utf8, double size, bool bold) {
  double em = 0;
  for (std::size_t at = 0; at < utf8.size();) em += advance(next(utf8, at));
  return em * size * (bold ? 1.12 : 1.0);
}

std::string fitted(std::string_view utf8, double size, double width) {
  if (text_width(utf8, size) <= width) return std::string(utf8);
  const double room = width / size - 1.0;  // the ellipsis
  double em = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; at < utf8.size(); end = at) {
    em += advance(next(utf8, at));
    if (em > room) break;
  }
  return std::string(utf8.substr(0, end)) + "\xe2\x80\xa6";
}

std::vector<std::string> wrapped(std::string_view utf8, double size, double width, bool bold) {
  std::vector<std::string> lines;
  std::istringstream words{std::string(utf8)};
  for (std::string word; words >> word;) {
    word = fitted(word, size * (bold ? 1.12 : 1.0), width);
    const std::string longer = lines.empty() ? word : lines.back() + " " + word;
    if (!lines.empty() && text_width(longer, size, bold) <= width) lines.back() = longer;
    else lines.push_back(word);
  }
  return lines;
}

}  // namespace raddle::report
