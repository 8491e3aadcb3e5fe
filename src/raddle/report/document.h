// The reproduction document (schema 1): what came of running a paper's experiments. The laboratory
// writes it as JSON; here it is checked whole and read into what the figures and the index need.
// The page itself gets the JSON (web/src/reproduction_data.ts names every member).
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace raddle::report {

/// Nothing was measured (null), a number, or, in tables only, a text.
using Cell = std::variant<std::monostate, double, std::string>;

struct Series {
  std::string name;
  std::string stack;            ///< stacked only: the bar of each x this is a part of
  std::vector<Cell> values;     ///< one per x
  std::vector<std::string> at;  ///< tornado only, least and most: the constant there, one per x
  std::vector<Cell> stated;     ///< the paper's numbers, one per x; empty when it states none
  bool has_stated() const;      ///< some number is stated
};

struct Figure {
  enum class Type { Bars, Lines, Stacked, Table, Tornado };
  enum class Scale { Category, Linear, Log };
  std::string title;
  Type type = Type::Bars;
  Scale x_scale = Scale::Category;
  std::string x_label, y_label, y_unit;
  std::vector<std::string> x_names;  ///< x as text, on every scale
  std::vector<double> x_numbers;     ///< empty on a category scale; > 0 on a log scale
  std::vector<Series> series;        ///< of a tornado three: least, as declared, most
};

struct Experiment {
  std::string id, title, status;  ///< status: as experiments/README.md has them
  std::vector<Figure> figures;
  bool study = false;  ///< a row that the paper does not have, which counts for nothing
  std::size_t shapes_passed = 0, shapes_refuted = 0, shapes = 0;
  std::size_t stated_within = 0, stated_refuted = 0, stated = 0;
};

struct Document {
  std::string paper, title, reference;  ///< paper: its id, which names files
  std::string raddle_version, commit, date, command, scale;
  std::vector<Experiment> experiments;
  std::size_t runs = 0, runs_failed = 0;
};

/// Throws InputError with every fault, each naming `file` and its place in the document
/// ("experiments[2].figures[0].type: expected ..., found ..."). Members it does not know are left
/// alone; a member that may be left out may be null.
Document read_document(const nlohmann::ordered_json& json,
                       const std::string& file = "reproduction document");

/// A cell as in CSV: the shortest decimal that reads back the same; null is empty.
std::string to_text(const Cell& cell);

}  // namespace raddle::report
