// One drawing class: a head with title and legend, then a plot by type. Sizes are in pixels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "raddle/report/figure.h"
#include "raddle/report/svg.h"
#include "raddle/report/ticks.h"
#include "raddle/report/tornado.h"

namespace raddle::report {
namespace {

constexpr double kPlotHeight = 300, kMinWidth = 760;
constexpr double kLabelSize = 12, kTickSize = 11;
constexpr double kLongestName = 190;
constexpr std::array<std::string_view, 4> kDashes = {"", "6 4", "2 3", "8 3 2 3"};

const double* number_of(const std::vector<Cell>& cells, std::size_t i) {
  return i < cells.size() ? std::get_if<double>(&cells[i]) : nullptr;
}

/// Distinct texts in order of first appearance.
std::vector<std::string> distinct(const std::vector<Series>& series, std::string Series::*member) {
  std::vector<std::string> out;
  for (const Series& s : series)
    if (std::find(out.begin(), out.end(), s.*member) == out.end()) out.push_back(s.*member);
  return out;
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

class Drawing {
 public:
  explicit Drawing(const Figure& figure)
      : figure_(figure),
        parts_(distinct(figure.series, &Series::name)),
        stacks_(distinct(figure.series, &Series::stack)) {}

  std::string draw() {
    if (figure_.type == Figure::Type::Table) return table();
    if (figure_.type == Figure::Type::Tornado) return tornado_svg(figure_);
    left_ = 64 + (y_title().empty() ? 0 : 14);
    plot_width_ = std::max(kMinWidth - left_ - kMargin, narrowest());
    width_ = left_ + plot_width_ + kMargin;
    head();
    scale_y();
    grid();
    if (figure_.type == Figure::Type::Lines) lines();
    else if (figure_.type == Figure::Type::Stacked) stacked();
    else bars();
    if (!any_number_) nothing();
    const double height = foot();
    return svg_.finish(width_, height, figure_.title, layout());
  }

 private:
  // --- layout ---------------------------------------------------------------------------------

  std::size_t categories() const { return std::max<std::size_t>(figure_.x_names.size(), 1); }
  bool several_stacks() const {
    return figure_.type == Figure::Type::Stacked && stacks_.size() > 1;
  }
  /// Places for bars in a category; stacks leave one free on both sides.
  double slots() const {
    if (figure_.type != Figure::Type::Stacked)
      return static_cast<double>(std::max<std::size_t>(figure_.series.size(), 1)) / 0.8;
    return several_stacks() ? static_cast<double>(stacks_.size()) + 1.4 : 1.6;
  }
  /// The least width in which bars and their labels can be told apart.
  double narrowest() const {
    if (figure_.type == Figure::Type::Lines) return 0;
    return static_cast<double>(categories()) * slots() * (several_stacks() ? 16 : 7);
  }
  double band() const { return plot_width_ / static_cast<double>(categories()); }
  double slot() const { return std::min(band() / slots(), 46.0); }
  double centre(std::size_t i) const { return left_ + (static_cast<double>(i) + 0.5) * band(); }
  double y(double value) const {
    return top_ + (y_axis_.high - value) / (y_axis_.high - y_axis_.low) * kPlotHeight;
  }
  double bottom() const { return top_ + kPlotHeight; }

  std::string y_title() const { return axis_title(figure_.y_label, figure_.y_unit); }

  bool has_stated() const {
    return std::any_of(figure_.series.begin(), figure_.series.end(),
                       [](const Series& s) { return s.has_stated(); });
  }

  std::string colour(std::size_t i) {
    const std::string_view plain = kSeriesColours[i % kSeriesColours.size()];
    if (i < kSeriesColours.size() || figure_.type == Figure::Type::Lines) return std::string(plain);
    auto& hatched = hatched_[i];
    if (hatched.empty()) hatched = svg_.hatch(plain);
    return hatched;
  }

  Layout layout() const {
    Layout out;
    out.head = head_;
    out.left = left_;
    out.top = top_;
    out.width = plot_width_;
    out.height = kPlotHeight;
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
      if (figure_.type == Figure::Type::Stacked)
        for (std::size_t s = 0; s < stacks_.size(); ++s)
          out.centres.push_back(stack_x(i, s) + slot() * 0.47);
      else out.centres.push_back(x_position(i));
    return out;
  }

  // --- head: title, legend ----------------------------------------------------------------------

  void head() {
    top_ = svg_.heading(figure_.title, width_);
    head_ = top_ - 12;
    double x = kMargin;
    const auto place = [&](const std::string& text) {
      const double width = 24 + text_width(text, kLabelSize) + 14;
      if (x > kMargin && x + width > width_ - kMargin) {
        x = kMargin;
        top_ += 19;
      }
      const double at = x;
      svg_.text(at + 24, top_ + 4, text, {.size = kLabelSize});
      x += width;
      return at;
    };
    const bool lines = figure_.type == Figure::Type::Lines;
    if (parts_.size() > 1 || has_stated())
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        svg_.group("legend", i);
        const double at = place(fitted(parts_[i], kLabelSize, width_ - 4 * kMargin));
        if (lines) {
          stroke({{at, top_}, {at + 18, top_}}, i);
          marker(at + 9, top_, i);
        } else {
          svg_.rect(at + 2, top_ - 6, 13, 12, colour(i));
        }
        svg_.end_group();
      }
    if (has_stated()) {
      const double at = place("stated in the paper");
      if (!lines) svg_.line(at, top_, at + 18, top_, kInk, 1.6);
      diamond(at + 9, top_, kPaper);
    }
    top_ += 26;
  }

  // --- axes -------------------------------------------------------------------------------------

  void include(double value) {
    minimum_ = std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
    any_number_ = true;
  }

  void scale_y() {
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i) {
      std::map<std::string, double> sums;
      for (const Series& s : figure_.series) {
        const bool stack = figure_.type == Figure::Type::Stacked;
        const double base = stack ? sums[s.stack] : 0.0;
        if (const double* stated = number_of(s.stated, i)) include(base + *stated);
        if (const double* value = number_of(s.values, i)) include(base + *value);
        if (const double* value = number_of(s.values, i); stack && value) sums[s.stack] += *value;
      }
    }
    y_axis_ = ticks_from_zero(minimum_, maximum_, 6);
  }

  void grid() {
    for (const double value : y_axis_.values()) {
      const bool zero = std::abs(value) < y_axis_.step / 1e6;
      svg_.line(left_, y(value), left_ + plot_width_, y(value), zero ? kMuted : kLine, 1);
      svg_.text(left_ - 8, y(value) + 4, y_axis_.label(value),
                {.size = kTickSize, .colour = kMuted, .anchor = "end"});
    }
    const std::string title = fitted(y_title(), kLabelSize, kPlotHeight);
    svg_.text(kMargin + 6, top_ + kPlotHeight / 2, title,
              {.size = kLabelSize, .colour = kMuted, .anchor = "middle", .turned = -90});
  }

  /// Names under the plot; returns where the next thing below may begin.
  double category_names(double below) {
    double longest = 0;
    for (const std::string& name : figure_.x_names)
      longest = std::max(longest, text_width(name, kLabelSize));
    longest = std::min(longest, kLongestName);
    const bool turned = longest > band() - 6;
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i) {
      const std::string& name = figure_.x_names[i];
      const double room = std::min(longest, (centre(i) - 4) / 0.82);  // to the left edge
      if (turned)
        svg_.text(centre(i) + 4, below + 12, fitted(name, kLabelSize, room),
                  {.size = kLabelSize, .anchor = "end", .turned = -35});
      else svg_.text(centre(i), below + 16, name, {.size = kLabelSize, .anchor = "middle"});
    }
    return below + (turned ? 18 + longest * 0.58 : 22);
  }

  /// The name of each stack under its bar, upright.
  double stack_names() {
    if (!several_stacks()) return bottom();
    double longest = 0;
    for (const std::string& name : stacks_)
      longest = std::max(longest, text_width(name, kTickSize));
    longest = std::min(longest, kLongestName);
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
      for (std::size_t s = 0; s < stacks_.size(); ++s)
        svg_.text(stack_x(i, s) + slot() / 2 + 4, bottom() + 7,
                  fitted(stacks_[s], kTickSize, kLongestName),
                  {.size = kTickSize, .colour = kMuted, .anchor = "end", .turned = -90});
    return bottom() + longest + 8;
  }

  double foot() {
    double below = x_numeric() ? number_names() : category_names(stack_names());
    if (!figure_.x_label.empty()) {
      svg_.text(left_ + plot_width_ / 2, below + 16,
                fitted(figure_.x_label, kLabelSize, plot_width_),
                {.size = kLabelSize, .colour = kMuted, .anchor = "middle"});
      below += 22;
    }
    return below + 8;
  }

  // --- bars -------------------------------------------------------------------------------------

  void stated_mark(double from, double to, double at) {
    svg_.line(from, at, to, at, kPaper, 3.6);
    svg_.line(from, at, to, at, kInk, 1.6);
    diamond((from + to) / 2, at, kPaper);
  }

  void bar(double x, double from, double to, const std::string& fill) {
    svg_.rect(x, std::min(y(from), y(to)), slot() * 0.94, std::abs(y(to) - y(from)), fill);
  }

  void bars() {
    const auto n = static_cast<double>(figure_.series.size());
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
      for (std::size_t s = 0; s < figure_.series.size(); ++s) {
        const double x = centre(i) + (static_cast<double>(s) - n / 2) * slot();
        if (const double* value = number_of(figure_.series[s].values, i))
          bar(x, 0, *value, colour(s));
        if (const double* stated = number_of(figure_.series[s].stated, i))
          stated_mark(x - 1, x + slot() * 0.94 + 1, y(*stated));
      }
  }

  double stack_x(std::size_t i, std::size_t stack) const {
    const auto n = static_cast<double>(stacks_.size());
    return centre(i) + (static_cast<double>(stack) - n / 2) * slot();
  }

  void stacked() {
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i) {
      std::vector<double> tops(stacks_.size(), 0);
      std::vector<std::pair<double, double>> marks;  // x, value: drawn over all parts
      for (const Series& s : figure_.series) {
        double& top = tops[index_of(stacks_, s.stack)];
        const double x = stack_x(i, index_of(stacks_, s.stack));
        if (const double* stated = number_of(s.stated, i)) marks.emplace_back(x, top + *stated);
        if (const double* value = number_of(s.values, i)) {
          bar(x, top, top + *value, colour(index_of(parts_, s.name)));
          top += *value;
        }
      }
      for (const auto& [x, value] : marks) stated_mark(x - 1, x + slot() * 0.94 + 1, y(value));
    }
  }

  // --- lines ------------------------------------------------------------------------------------

  bool x_numeric() const { return figure_.x_scale != Figure::Scale::Category; }

  double x_position(std::size_t i) const {
    if (!x_numeric()) return centre(i);
    const auto [low, high] =
        std::minmax_element(figure_.x_numbers.begin(), figure_.x_numbers.end());
    const auto along = [&](double value) {
      return figure_.x_scale == Figure::Scale::Log ? std::log(value) : value;
    };
    const double range = along(*high) - along(*low);
    const double share = range > 0 ? (along(figure_.x_numbers[i]) - along(*low)) / range : 0.5;
    return left_ + 14 + share * (plot_width_ - 28);
  }

  /// The x values themselves under the axis, as many as there is room for.
  double number_names() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < figure_.x_numbers.size(); ++i) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(figure_.x_numbers[a], a) < std::pair(figure_.x_numbers[b], b);
    });
    double free = 0;
    for (const std::size_t i : order) {
      const double x = x_position(i);
      const std::string name = short_number(figure_.x_numbers[i]);
      svg_.line(x, bottom(), x, bottom() + 4, kMuted, 1);
      const double half = text_width(name, kTickSize) / 2;
      if (x - half < free) continue;
      svg_.text(x, bottom() + 17, name, {.size = kTickSize, .colour = kMuted, .anchor = "middle"});
      free = x + half + 6;
    }
    return bottom() + 20;
  }

  void stroke(const std::vector<std::pair<double, double>>& points, std::size_t series) {
    svg_.polyline(points, colour(series), 2,
                  kDashes[series / kSeriesColours.size() % kDashes.size()]);
  }

  void marker(double x, double at, std::size_t series) {
    const std::string fill = colour(series);
    constexpr double r = 3.6;
    switch (series % 4) {
      case 0:
        svg_.circle(x, at, r, fill, kPaper, 0.8);
        break;
      case 1:
        svg_.rect(x - r, at - r, 2 * r, 2 * r, fill, kPaper);
        break;
      case 2:
        svg_.polygon({{x, at - r - 1}, {x + r + 1, at + r}, {x - r - 1, at + r}}, fill, kPaper,
                     0.8);
        break;
      default:
        svg_.polygon({{x, at + r + 1}, {x + r + 1, at - r}, {x - r - 1, at - r}}, fill, kPaper,
                     0.8);
    }
  }

  void diamond(double x, double at, std::string_view fill) {
    constexpr double r = 5;
    svg_.polygon({{x, at - r}, {x + r, at}, {x, at + r}, {x - r, at}}, fill, kInk, 1.5);
  }

  void lines() {
    for (std::size_t s = 0; s < figure_.series.size(); ++s) {
      svg_.group("series", s);
      std::vector<std::pair<double, double>> run;
      const auto end_run = [&] {
        if (run.size() > 1) stroke(run, s);
        for (const auto& [x, at] : run) marker(x, at, s);
        run.clear();
      };
      for (std::size_t i = 0; i < figure_.x_names.size(); ++i) {
        const double* value = number_of(figure_.series[s].values, i);
        if (value == nullptr) end_run();
        else run.emplace_back(x_position(i), y(*value));
      }
      end_run();
      svg_.end_group();
    }
    for (std::size_t s = 0; s < figure_.series.size(); ++s) {
      svg_.group("series", s);
      for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
        if (const double* stated = number_of(figure_.series[s].stated, i))
          diamond(x_position(i), y(*stated), kSeriesColours[s % kSeriesColours.size()]);
      svg_.end_group();
    }
  }

  void nothing() {
    svg_.text(left_ + plot_width_ / 2, top_ + kPlotHeight / 2, "no numbers",
              {.size = 14, .colour = kMuted, .anchor = "middle"});
  }

  // --- table ------------------------------------------------------------------------------------

  std::string table() {
    std::vector<std::vector<std::string>> rows = {{figure_.x_label}};
    for (const std::string& name : figure_.x_names) rows.push_back({name});
    std::vector<bool> numeric = {false};
    const auto add = [&](const std::string& heading, const std::vector<Cell>& cells) {
      rows[0].push_back(heading);
      numeric.push_back(std::none_of(cells.begin(), cells.end(), [](const Cell& cell) {
        return std::holds_alternative<std::string>(cell);
      }));
      for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
        rows[i + 1].push_back(shown(cells[i]));
    };
    for (const Series& series : figure_.series) {
      add(series.name, series.values);
      if (series.has_stated()) add("paper: " + series.name, series.stated);
    }
    std::vector<double> widths(rows[0].size(), 40);
    for (const auto& row : rows)
      for (std::size_t column = 0; column < row.size(); ++column)
        widths[column] = std::max(widths[column],
                                  std::min(text_width(row[column], kLabelSize, true), 260.0) + 24);
    width_ = 2 * kMargin;
    for (const double width : widths) width_ += width;
    width_ = std::max(width_, 320.0);
    double at = svg_.heading(figure_.title, width_) + 14;
    for (std::size_t line = 0; line < rows.size(); ++line, at += 24) {
      double x = kMargin;
      for (std::size_t column = 0; column < rows[line].size(); x += widths[column++]) {
        const std::string text = fitted(rows[line][column], kLabelSize, 260);
        svg_.text(
            numeric[column] ? x + widths[column] - 16 : x, at, text,
            {.size = kLabelSize, .anchor = numeric[column] ? "end" : "start", .bold = line == 0});
      }
      svg_.line(kMargin, at + 7, width_ - kMargin, at + 7, line == 0 ? kMuted : kLine, 1);
    }
    return svg_.finish(width_, at, figure_.title);
  }

  static std::string shown(const Cell& cell) {
    if (const double* value = std::get_if<double>(&cell)) return digits(*value);
    const auto* text = std::get_if<std::string>(&cell);
    return text == nullptr ? "\xe2\x80\x93" : *text;
  }

  const Figure& figure_;
  std::vector<std::string> parts_, stacks_;  ///< names of series, names of stacks
  Svg svg_;
  std::map<std::size_t, std::string> hatched_;
  double head_ = 0, left_ = 0, top_ = 0, width_ = 0, plot_width_ = 0;
  double minimum_ = 0, maximum_ = 0;
  bool any_number_ = false;
  Ticks y_axis_;
};

}  // namespace

std::string figure_svg(const Figure& figure) { return Drawing(figure).draw(); }

}  // namespace raddle::report
