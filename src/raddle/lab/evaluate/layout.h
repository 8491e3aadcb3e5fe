// What a figure consists of: its columns along x and its series, as coordinates at which
// expressions are evaluated.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "raddle/lab/evaluate/evaluator.h"

namespace raddle::lab {

struct Column {
  std::string label;               ///< as drawn
  std::string name;                ///< as files call it
  std::optional<AxisValue> value;  ///< of an axis
  Step step{};                     ///< when it is no mean
  std::string mean;                ///< "hmean": a mean
  std::vector<Step> over;          ///< of what; all columns before the means when empty
};

struct SeriesPlan {
  std::string label, name;
  std::string stack;  ///< stacked figures: the bar it is a part of
  std::vector<Step> steps;
  const Formula* value;
};

struct Layout {
  std::vector<Column> columns;
  std::vector<SeriesPlan> series;
  AxisScale scale = AxisScale::Category;
};

/// Precondition: the reader has accepted the figure.
Layout lay_out(const Experiment& e, const Figure& figure);

}  // namespace raddle::lab
