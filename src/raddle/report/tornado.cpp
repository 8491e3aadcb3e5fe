#include "raddle/report/tornado.h"

#include <algorithm>

#include "raddle/report/figure.h"
#include "raddle/report/svg.h"
#include "raddle/report/ticks.h"

namespace raddle::report {
namespace {

constexpr double kWidth = 760;
constexpr double kRow = 26;
constexpr double kBar = 16;
constexpr double kLongestLabel = 260;
constexpr double kLabelSize = 12;
constexpr double kTickSize = 11;

const double* number_at(const Series& series, std::size_t i) {
  return std::get_if<double>(&series.values[i]);
}

class Tornado {
 public:
  explicit Tornado(const Figure& figure)
      : figure_(figure),
        minimum_(figure.series[0]),
        base_(figure.series[1]),
        maximum_(figure.series[2]) {}

  std::string draw() {
    place();
    top_ = svg_.heading(figure_.title, kWidth);
    grid();
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i) row(i);
    base_line();
    Layout layout;
    layout.head = top_ - 12;
    layout.left = left_;
    layout.top = top_;
    layout.width = right_ - left_;
    layout.height = bottom() - top_;
    layout.rows = true;
    for (std::size_t i = 0; i < figure_.x_names.size(); ++i) layout.centres.push_back(middle(i));
    return svg_.finish(kWidth, bottom() + 48, figure_.title, layout);
  }

 private:
  double middle(std::size_t i) const { return top_ + kRow * (static_cast<double>(i) + 0.5); }
  double bottom() const { return top_ + kRow * static_cast<double>(figure_.x_names.size()); }
  double x(double value) const {
    return left_ + (value - axis_.low) / (axis_.high - axis_.low) * (right_ - left_);
  }

  /// Room for the names at the left and for constants' values at both ends of the bars.
  void place() {
    double widest = 0;
    double ends = 0;
    for (const std::string& name : figure_.x_names)
      widest = std::max(widest, text_width(name, kLabelSize));
    for (const Series* series : {&minimum_, &maximum_})
      for (const std::string& text : series->at) ends = std::max(ends, text_width(text, kTickSize));
    left_ = kMargin + std::min(widest, kLongestLabel) + 12 + ends + 6;
    right_ = kWidth - kMargin - ends - 10;
    bool any = false;
    double low = 0;
    double high = 0;
    for (const Series* series : {&minimum_, &base_, &maximum_})
      for (std::size_t i = 0; i < figure_.x_names.size(); ++i)
        if (const double* value = number_at(*series, i)) {
          low = any ? std::min(low, *value) : *value;
          high = any ? std::max(high, *value) : *value;
          any = true;
        }
    axis_ = low < high ? ticks(low, high, 6) : ticks_from_zero(low, high, 6);
  }

  void grid() {
    for (const double value : axis_.values()) {
      svg_.line(x(value), top_, x(value), bottom(), kLine, 1);
      svg_.text(x(value), bottom() + 16, axis_.label(value),
                {.size = kTickSize, .colour = kMuted, .anchor = "middle"});
    }
    const std::string title = axis_title(figure_.y_label, figure_.y_unit);
    svg_.text((left_ + right_) / 2, bottom() + 36, fitted(title, kLabelSize, right_ - left_),
              {.size = kLabelSize, .colour = kMuted, .anchor = "middle"});
  }

  void row(std::size_t i) {
    const double at = middle(i);
    svg_.text(kMargin, at + 4, fitted(figure_.x_names[i], kLabelSize, kLongestLabel),
              {.size = kLabelSize});
    const double* from = number_at(minimum_, i);
    const double* to = number_at(maximum_, i);
    if (from == nullptr || to == nullptr) {
      svg_.text((left_ + right_) / 2, at + 4, "no numbers",
                {.size = kTickSize, .colour = kMuted, .anchor = "middle"});
      return;
    }
    svg_.rect(x(*from), at - kBar / 2, std::max(x(*to) - x(*from), 1.0), kBar, kSeriesColours[0]);
    if (!minimum_.at.empty())
      svg_.text(x(*from) - 5, at + 4, minimum_.at[i],
                {.size = kTickSize, .colour = kMuted, .anchor = "end"});
    if (!maximum_.at.empty())
      svg_.text(x(*to) + 5, at + 4, maximum_.at[i], {.size = kTickSize, .colour = kMuted});
  }

  void base_line() {
    if (figure_.x_names.empty()) return;
    if (const double* base = number_at(base_, 0))
      svg_.line(x(*base), top_ - 2, x(*base), bottom() + 2, kInk, 1.6);
  }

  const Figure& figure_;
  const Series& minimum_;
  const Series& base_;
  const Series& maximum_;
  Svg svg_;
  Ticks axis_;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
};

}  // namespace

std::string tornado_svg(const Figure& figure) { return Tornado(figure).draw(); }

}  // namespace raddle::report
