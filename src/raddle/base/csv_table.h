// Tables of comma separated values (RFC 4180), with other text before, between and behind them.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raddle {

/// Cells of a line; "..." may hold commas, "" in it is a quote. Throws InputError where a quote is
/// not closed.
std::vector<std::string> csv_cells(std::string_view line);
/// As a cell is written.
std::string csv_cell(std::string_view text);

/// The lines of a text that is a table in part. A quoted cell may hold line ends once rows are
/// wanted.
class CsvLines {
 public:
  explicit CsvLines(std::istream& in) : in_(&in) {}
  /// The next line as it is, without its end; nothing at the end of the text.
  std::optional<std::string> line();
  /// The next line, and those that belong to a quote that it does not close. Throws InputError
  /// where that is never closed.
  std::optional<std::string> record();
  /// Of what was given last: where it began, from 1.
  unsigned number() const { return number_; }

 private:
  std::istream* in_;
  unsigned number_ = 0, read_ = 0;
};

}  // namespace raddle
