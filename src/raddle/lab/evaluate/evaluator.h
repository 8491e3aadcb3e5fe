// Gives expressions their meaning: numbers and verdicts from the metrics of an experiment's runs.
// The same code checks a file before anything runs, with a source that knows which metrics there
// will be (plan/checks.h).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/evaluate/grid.h"

namespace raddle::lab {

/// Missing when a run that it needs has failed or has not run, or where it is not defined (division
/// by zero, a mean of numbers that are not positive).
using Number = std::optional<double>;

/// A place in a result that no run of that kind has.
struct UnknownMetric : EvaluationError {
  using EvaluationError::EvaluationError;
};

class MetricSource {
 public:
  virtual ~MetricSource() = default;
  /// Of a cell of the grid. `path` is a place in the result JSON.
  virtual Number metric(std::size_t cell, const std::string& path) const = 0;
  /// It is known that the cell is left out (`where` of [[runs]]).
  virtual bool left_out(std::size_t) const { return false; }
};

enum class Verdict : std::uint8_t { Fail, Pass, NotRun };
std::string_view verdict_name(Verdict verdict);

struct Judgement {
  Verdict verdict;
  std::string detail;  ///< the condition with its numbers put in
};

/// Part of a figure's x or series, or of an expression's domain.
struct Step {
  enum class Dimension : std::uint8_t { Workload, Variant, Axis } dimension;
  std::size_t axis;  ///< when it is one
  int at;
};

class Evaluator {
 public:
  /// All must outlive the evaluator.
  Evaluator(const Experiment& e, const Grid& grid, const MetricSource& source);

  /// Throws EvaluationError where the expression makes no sense at `where`.
  Number number(const Formula& formula, const Coordinates& where);
  /// At each point of an axis, in the axis' order. Throws when nothing depends on the axis.
  std::vector<Number> along(const Formula& formula, const std::string& axis,
                            const Coordinates& where);
  Judgement judge(const ExpectedTrend& shape);
  /// Whether a condition holds at `where`. Throws as number() does.
  Verdict holds(const Formula& condition, const Coordinates& where);
  /// A mean by name ("hmean") of the formula's values at each of `places`.
  Number mean(std::string_view name, const Formula& formula,
              const std::vector<Coordinates>& places);

 private:
  using Kind = ExpressionKind;
  Number eval(const Expression& x, const Coordinates& where);
  Number name(const Expression& x, const Coordinates& where);
  Number metric(const std::string& path, Coordinates where);
  std::size_t used_cell(const Coordinates& where);
  Number call(const Expression& x, const Coordinates& where);
  Number fold(const Expression& x, const Coordinates& where);
  Number pinned(const Expression& x, const Coordinates& where);
  Judgement judge(const Expression& x, const Coordinates& where);
  Judgement judge_fold(const Expression& x, const Coordinates& where);
  Judgement compare(const Expression& x, const Coordinates& where);
  Judgement within(const Expression& x, const Coordinates& where);
  Judgement quantified(const Expression& x, const Coordinates& where);
  Coordinates moved(const std::vector<Pin>& pins, Coordinates where,
                    std::vector<std::size_t>& moved_along);
  /// The point of a selection that is best at `where`; missing when one of the runs is.
  std::optional<Coordinates> chosen(std::size_t variant, Coordinates where);
  void each(const std::vector<Domain>& domains, const Coordinates& where,
            const std::function<void(const Coordinates&, const std::string& label)>& f);
  std::vector<Step> steps(const Domain& domain) const;
  std::size_t only_axis(const Expression& x, std::size_t min_points) const;
  std::string operand(const Expression& x, const Number& value) const;

  const Experiment& e_;
  const Grid& grid_;
  const MetricSource& source_;
  const Expression* of_ = nullptr;
  double tolerance_ = 0;
  std::string_view text_;  ///< of the condition that is judged
  /// How often anything depended on the workload (0), the variant (1), an axis (2...). What is
  /// pinned or gone through without effect is a mistake of the file.
  std::vector<std::uint64_t> used_;
};

/// Puts a step into the coordinates.
void apply(const Step& step, Coordinates& where);
/// Position of a value among an axis' points; kUnset when it is none.
int point_of(const Axis& axis, const AxisValue& value);
/// "0.3612": short, and exact enough to see why a comparison fails.
std::string shown_number(const Number& value);

}  // namespace raddle::lab
