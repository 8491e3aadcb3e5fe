// The runs of one experiment by their coordinates: workload, variant, and a point of each axis that
// applies.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// An expression that makes no sense where it is evaluated. Found when the file is checked, before
/// anything runs.
struct EvaluationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kUnset = -1;

/// Where in a grid; kUnset where none was given.
struct Coordinates {
  int workload = kUnset, variant = kUnset;
  std::vector<int> points;  ///< by axis
};

struct Cell {
  std::size_t workload, variant;
  std::vector<int> points;  ///< by axis; kUnset for axes that do not apply
  std::set<std::string> analyses;
  /// Of the [[runs]] that ask for it: it is left out where none of them holds. None: it never is.
  std::vector<const Formula*> where;
};

class Grid {
 public:
  /// Every [[runs]] expanded, in order of writing, each coordinate once. `e` must outlive the grid.
  explicit Grid(const Experiment& e);
  const std::vector<Cell>& cells() const { return cells_; }
  Coordinates unset() const;
  /// The cell at `where`, whose other axes are not looked at. Of several, the one with most axes.
  /// Throws EvaluationError when there is none or two fit alike.
  std::size_t find(const Coordinates& where) const;

 private:
  using Axes = std::vector<std::size_t>;
  std::string missing(const Coordinates& where) const;
  const Experiment& e_;
  std::vector<Cell> cells_;
  /// By workload and variant, then by the axes that apply (sorted), then by points on these.
  std::map<std::pair<std::size_t, std::size_t>,
           std::map<Axes, std::map<std::vector<int>, std::size_t>>>
      index_;
};

}  // namespace raddle::lab
