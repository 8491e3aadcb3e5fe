// Writing SVG: a few shapes and text, in pixels, y downward. Text is set in DejaVu Sans or Verdana,
// whose widths are nearly the same and are estimated here, since nothing that could measure them is
// at hand.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::report {

inline constexpr std::string_view kInk = "#1d2733";
inline constexpr std::string_view kMuted = "#5b6776";
inline constexpr std::string_view kLine = "#dde2e8";
inline constexpr std::string_view kPaper = "#ffffff";
inline constexpr double kMargin = 16;  ///< around a drawing, in pixels

struct TextStyle {
  double size = 12;
  std::string_view colour = kInk;
  std::string_view anchor = "start";  ///< start, middle or end of the text is at the given place
  bool bold = false;
  double turned = 0;  ///< degrees, clockwise, about the given place
};

/// Where a page that shows the drawing finds what lies under the pointer (web/src/drawing.ts).
struct Layout {
  double head = 0;                                  ///< below this nothing of the title is left
  double left = 0, top = 0, width = 0, height = 0;  ///< the plot
  bool rows = false;
  std::vector<double> centres;  ///< x of each column, or y of each row
};

class Svg {
 public:
  /// `fill` is a colour or, for the hatched colours, url(#h<n>) of hatch().
  void rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view stroke = "none");
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width,
            std::string_view dashes = "");
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour,
                double width, std::string_view dashes = "");
  void polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill,
               std::string_view stroke, double width);
  /// `tip` is shown where the pointer rests on it; "" = nothing.
  void circle(double x, double y, double radius, std::string_view fill, std::string_view stroke,
              double width, std::string_view tip = "");
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// A fill of `colour` with white stripes; returns its name for `fill`.
  std::string hatch(std::string_view colour);

  /// The title in as many lines as it needs, at the top; returns where the next thing may begin.
  double heading(std::string_view title, double width);
  /// What is drawn until end_group() belongs to a series, or is its entry of the legend: a script
  /// finds it by the attribute data-<what>.
  void group(std::string_view what, std::size_t series);
  void end_group() { shapes_ += "</g>\n"; }

  /// The document on white ground. Bytes that are not UTF-8 become U+FFFD, characters that XML
  /// forbids are left out.
  std::string finish(double width, double height, std::string_view title,
                     const Layout& layout = {}) const;

 private:
  std::string shapes_, definitions_;
  int hatches_ = 0;
};

/// Estimated width in pixels, rather too wide than too narrow.
double text_width(std::string_view utf8, double size, bool bold = false);
/// The text, or as much of its beginning as fits, with an ellipsis.
std::string fitted(std::string_view utf8, double size, double width);
/// The text in lines that fit; a word that is too long is shortened.
std::vector<std::string> wrapped(std::string_view utf8, double size, double width,
                                 bool bold = false);

}  // namespace raddle::report
