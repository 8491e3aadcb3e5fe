// What an experiment says of its runs: measures, figures, and what the paper reports of them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/file/values.h"

namespace raddle::lab {

struct Measure {
  std::string name, title, unit;
  Formula value;
};

enum class FigureType : std::uint8_t { Bars, Lines, Stacked, Table, Tornado };
inline constexpr std::array<std::string_view, 5> kFigureTypeNames = {"bars", "lines", "stacked",
                                                                     "table", "tornado"};

struct Figure {
  struct Series {
    std::string name;              ///< a variant, workload, group or axis, or any text with `value`
    std::optional<Formula> value;  ///< of its own
    Place place;
  };
  /// A column that is a mean of others, or over workloads of its own.
  struct Mean {
    std::string name, mean, over;  ///< over: "" = all of x
  };
  std::string title;
  FigureType type = FigureType::Bars;
  std::vector<std::string> x;
  std::vector<Mean> means;
  std::string x_label, y_label, y_unit;
  std::optional<Formula> value;
  std::vector<Series> series;
  std::vector<Series> transactions;
  Place place;
};

/// How a number of ours is compared with the paper's: `reading`.
enum class ComparisonMode : std::uint8_t { Ratio, Value, Exact };
inline constexpr std::array<std::string_view, 3> kComparisonModeNames = {"ratio", "value", "exact"};

/// What no policy can exceed on this machine with these programs: refutes what
/// lies beyond.
struct NumberBound {
  Formula value;
  bool is_upper = true;           ///< no policy gives more; else less
  std::string text, assumptions;  /// what bounds it, and under which conditions
};

/// What makes a condition impossible under any policy: refutes it where it holds.
struct TrendBound {
  Formula check;
  std::string text, assumptions;
};

/// A number that the paper reports: one [[stated]].
struct ReportedValue {
  /// Where in a figure it is drawn.
  struct Milestone {
    std::size_t figure = 0;
    std::string series, x;
  };
  std::string what;
  Formula value;
  double paper = 0;
  ComparisonMode comparison = ComparisonMode::Ratio;
  double low = 0, high = 0;  ///< of `exact`: what rounds to the number
  std::optional<Milestone> mark;
  std::optional<NumberBound> bound;
  Place place;
};

/// A condition that the paper's figures show: one [[shapes]].
struct ExpectedTrend {
  std::string text;
  Formula check;
  std::optional<Formula> of;
  double tolerance = 0;
  std::optional<TrendBound> bound;
};

/// Measures of every workload under every variant: [counters].
struct CounterTable {
  std::vector<std::string> columns;
  std::vector<std::size_t> workloads, variants;
  Place place;
};

}  // namespace raddle::lab
