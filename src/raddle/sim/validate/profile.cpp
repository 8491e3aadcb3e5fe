#include "raddle/sim/validate/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <limits>
#include <set>

#include "raddle/base/csv_table.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/sim/validate/profile_metrics.h"

namespace raddle::sim {

namespace {

/// The columns of a table by name.
class ProfileColumns {
 public:
  explicit ProfileColumns(std::vector<std::string> names) : names_(std::move(names)) {}
  bool has(std::string_view name) const { return at(name) < names_.size(); }
  /// "" where there is no such column, or the row ends before it: the tools leave out empty cells
  /// at the end.
  std::string of(const std::vector<std::string>& cells, std::string_view name) const {
    const std::size_t column = at(name);
    return column < cells.size() ? cells[column] : "";
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::size_t at(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  }
  std::vector<std::string> names_;
};

/// "(256, 1, 1)" or "256, 1, 1"; nothing where the text is empty. Throws InputError.
std::optional<Dim3> dim3_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::array<std::uint32_t, 3> out{};
  std::size_t part = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&](std::string_view what) {
    while (at != end && what.find(*at) != std::string_view::npos) ++at;
  };
  skip("( ");
  for (; part < out.size(); ++part) {
    const auto [stop, error] = std::from_chars(at, end, out[part]);
    if (error != std::errc()) break;
    at = stop;
    skip(", ");
  }
  skip(") ");
  if (part != out.size() || at != end)
    throw InputError("expected three numbers as (256, 1, 1), found '" + text + "'");
  return Dim3{out[0], out[1], out[2]};
}

std::uint64_t whole_profiled_number(const std::string& text, std::string_view column) {
  const double number = profiled_number(text);
  if (std::isnan(number) || number != std::floor(number) || number > 1e15)
    throw InputError(fmt::format("'{}': expected a whole number, found '{}'", column, text));
  return static_cast<std::uint64_t>(number);
}

/// What a file is that is no table.
std::string instead_of_table(const std::string& file, const std::string& start,
                             std::string_view command) {
  if (file.ends_with(".ncu-rep") || file.ends_with(".nsys-rep") || file.ends_with(".qdrep") ||
      file.ends_with(".sqlite") || start.find('\0') != std::string::npos)
    return fmt::format("expected a table, found a report; print it with: {}", command);
  return fmt::format("no line names the columns of a table; expected what this prints: {}",
                     command);
}

/// A row that is one: the tool's and the program's lines may stand between them.
bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void note_lines(Profile& out, unsigned lines) {
  if (lines != 0)
    out.notes.push_back(fmt::format("{} line{} of the file {} no row of the table", lines,
                                    lines == 1 ? "" : "s", lines == 1 ? "is" : "are"));
}

/// A launch needs a name and a time.
void check_profile(const Profile& profile, std::string_view names_of_time) {
  if (profile.launches.empty()) throw InputError({profile.file}, "the table has no launch");
  const auto timed = [](const ProfiledLaunch& launch) {
    return !std::isnan(launch.value[static_cast<std::size_t>(Metric::Cycles)]) ||
           !std::isnan(launch.microseconds);
  };
  if (std::ranges::none_of(profile.launches, timed))
    throw InputError({profile.file},
                     fmt::format("no launch has a time: expected values of {}", names_of_time));
}

// --- Nsight Compute ------------------------------------------------------------------------------

constexpr std::string_view kNcuCommand =
    "ncu --csv --page raw ./app, or ncu --import FILE.ncu-rep --csv --page raw";

class NcuReader {
 public:
  NcuReader(std::istream& in, const std::string& file) : lines_(in) { out_.file = file; }

  Profile read() {
    const ProfileColumns columns = header();
    const bool summary = columns.has("Invocations") && columns.has("Average");
    const bool details = columns.has("Metric Name");
    out_.means = summary;
    if (summary) read_rows(columns, [&](const auto& cells) { summary_row(columns, cells); });
    else if (details) read_rows(columns, [&](const auto& cells) { details_row(columns, cells); });
    else read_rows(columns, [&](const auto& cells) { raw_row(columns, cells); });
    return finish(columns, summary   ? "a row for each kernel (--print-summary)"
                           : details ? "page details"
                                     : "page raw");
  }

 private:
  using Cells = std::vector<std::string>;

  ProfileColumns header() {
    std::string start;
    while (const auto line = lines_.line()) {
      if (start.size() < 4096) start += *line + "\n";
      if (!line->starts_with("\"ID\"") && !line->starts_with("ID,") &&
          !line->starts_with("\"Process ID\"") && !line->starts_with("Process ID,"))
        continue;
      ProfileColumns columns(csv_cells(*line));
      if (columns.has("Kernel Name")) return columns;
      throw InputError({out_.file, lines_.number()},
                       "expected a column \"Kernel Name\", found: " + valid_start(*line));
    }
    throw InputError({out_.file}, instead_of_table(out_.file, start, kNcuCommand));
  }

  static std::string valid_start(const std::string& line) {
    constexpr std::size_t kShown = 200;
    return valid_utf8(line.size() > kShown ? line.substr(0, kShown) + "..." : line);
  }

  template <class F>
  void read_rows(const ProfileColumns& columns, F row) {
    const bool has_id = columns.has("ID");
    unsigned others = 0;
    for (;;) {
      unsigned at = lines_.number();
      try {
        const auto line = lines_.record();
        if (!line) break;
        at = lines_.number();
        if (line->empty()) continue;
        const Cells cells = csv_cells(*line);
        const std::string& first = cells.front();
        // The row of units has no ID.
        if (first.empty() && !seen_rows_ && cells.size() > 1) {
          units_ = cells;
        } else if (is_number(has_id ? first : columns.of(cells, "Invocations"))) {
          seen_rows_ = true;
          row(cells);
        } else {
          ++others;
        }
      } catch (const InputError& error) {
        throw InputError({out_.file, at}, error.what());
      }
    }
    note_lines(out_, others);
  }

  ProfiledLaunch& new_launch(const ProfileColumns& columns, const Cells& cells) {
    ProfiledLaunch& launch = out_.launches.emplace_back();
    said_.emplace_back();
    launch.kernel = valid_utf8(columns.of(cells, "Kernel Name"));
    if (launch.kernel.empty()) throw InputError("expected a kernel's name, found none");
    launch.line = lines_.number();
    launch.grid = dim3_of(columns.of(cells, "Grid Size"));
    launch.block = dim3_of(columns.of(cells, "Block Size"));
    if (columns.has("Process ID")) processes_.insert(columns.of(cells, "Process ID"));
    if (columns.has("Device")) devices_.insert(columns.of(cells, "Device"));
    if (columns.has("CC")) capabilities_.insert(columns.of(cells, "CC"));
    return launch;
  }

  void raw_row(const ProfileColumns& columns, const Cells& cells) {
    new_launch(columns, cells);
    for (std::size_t i = 0; i < columns.names().size() && i < cells.size(); ++i)
      said_.back().add(columns.names()[i], i < units_.size() ? units_[i] : base_unit(i, columns),
                       cells[i]);
  }

  /// A page raw without a row of units was printed in base units, or somebody has cut the row off.
  static std::string base_unit(std::size_t column, const ProfileColumns& columns) {
    return columns.names()[column].starts_with("gpu__time_duration") ? "ns"
           : columns.names()[column].starts_with("dram__bytes")      ? "byte"
                                                                     : "";
  }

  void details_row(const ProfileColumns& columns, const Cells& cells) {
    const std::string id = columns.of(cells, "Process ID") + " " + columns.of(cells, "ID");
    if (out_.launches.empty() || id != last_) new_launch(columns, cells);
    last_ = id;
    const std::string name = columns.of(cells, "Metric Name");
    if (name.empty()) return;  // a rule's advice
    said_.back().add(name, columns.of(cells, "Metric Unit"), columns.of(cells, "Metric Value"));
  }

  void summary_row(const ProfileColumns& columns, const Cells& cells) {
    const std::string kernel = columns.of(cells, "Kernel Name") + " " +
                               columns.of(cells, "Grid Size") + " " +
                               columns.of(cells, "Block Size");
    if (out_.launches.empty() || kernel != last_) {
      ProfiledLaunch& launch = new_launch(columns, cells);
      launch.launches = whole_profiled_number(columns.of(cells, "Invocations"), "Invocations");
    }
    last_ = kernel;
    const std::string name = columns.of(cells, "Metric Name");
    if (!name.empty())
      said_.back().add(name, columns.of(cells, "Metric Unit"), columns.of(cells, "Average"));
  }

  Profile finish(const ProfileColumns& columns, std::string_view page) {
    if (processes_.size() > 1)
      throw InputError({out_.file}, fmt::format("expected launches of one process, found those of "
                                                "{}; profile one (ncu --target-processes)",
                                                processes_.size()));
    if (devices_.size() > 1)
      throw InputError({out_.file},
                       fmt::format("expected launches on one device, found those on {}; profile "
                                   "one (ncu --devices)",
                                   devices_.size()));
    std::string rate_of;
    for (std::size_t i = 0; i < out_.launches.size(); ++i) said_[i].fill(out_.launches[i], rate_of);
    if (out_.launches.empty() && columns.has("Metric Name"))
      throw InputError({out_.file}, "the table has no launch");
    check_profile(out_, kNamesOfTime);
    out_.conventions["tool"] = "Nsight Compute, " + std::string(page);
    if (!rate_of.empty()) out_.conventions["l1_hit_rate"] = rate_of;
    if (capabilities_.size() == 1) out_.conventions["capability"] = *capabilities_.begin();
    return std::move(out_);
  }

  CsvLines lines_;
  Profile out_;
  std::vector<Sayings> said_;  ///< by launch
  Cells units_;
  std::string last_;
  bool seen_rows_ = false;
  std::set<std::string> processes_, devices_, capabilities_;
};

// --- Nsight Systems ------------------------------------------------------------------------------

constexpr std::string_view kNsysCommand =
    "nsys stats --report cuda_gpu_trace --format csv FILE.nsys-rep";

/// "Duration (ns)" -> its position and "(ns)"; nothing where no column begins so.
struct TimedColumn {
  std::string column, unit;
};
std::optional<TimedColumn> timed_column(const ProfileColumns& columns, std::string_view name) {
  for (const std::string& column : columns.names())
    if (column.starts_with(name) && column.size() > name.size()) {
      std::string unit = column.substr(name.size());
      std::erase(unit, ' ');
      if (unit.starts_with('(')) return TimedColumn{column, unit};
    }
  return std::nullopt;
}

class NsysReader {
 public:
  NsysReader(std::istream& in, const std::string& file) : lines_(in) { out_.file = file; }

  Profile read() {
    const ProfileColumns columns = header();
    out_.means = columns.has("Instances");
    std::optional<TimedColumn> time = timed_column(columns, out_.means ? "Avg" : "Duration");
    if (!time && out_.means) time = timed_column(columns, "Average");
    if (!time)
      throw InputError({out_.file, lines_.number()},
                       fmt::format("expected a column \"{} (ns)\", found: {}",
                                   out_.means ? "Avg" : "Duration", line_of_names_));
    unsigned others = 0;
    for (;;) {
      const unsigned before = lines_.number();
      try {
        const auto line = lines_.record();
        if (!line) break;
        if (line->empty()) {
          if (!out_.launches.empty()) break;  // behind the table
          continue;
        }
        if (!row(columns, *time, csv_cells(*line))) ++others;
      } catch (const InputError& error) {
        throw InputError({out_.file, std::max(lines_.number(), before)}, error.what());
      }
    }
    while (lines_.line()) ++others;
    note_lines(out_, others);
    return finish();
  }

 private:
  ProfileColumns header() {
    std::string start;
    while (const auto line = lines_.line()) {
      if (start.size() < 4096) start += *line + "\n";
      const bool trace = line->starts_with("Start") && line->find("GrdX") != std::string::npos;
      const bool sums = line->starts_with("Time") && line->find("Instances") != std::string::npos;
      if (!trace && !sums) continue;
      ProfileColumns columns(csv_cells(*line));
      line_of_names_ = *line;
      if (columns.has("Name")) return columns;
    }
    throw InputError({out_.file}, instead_of_table(out_.file, start, kNsysCommand));
  }

  /// Is it one?
  bool row(const ProfileColumns& columns, const TimedColumn& time,
           const std::vector<std::string>& cells) {
    if (cells.size() != columns.names().size()) return false;
    const std::string name = columns.of(cells, "Name");
    if (name.starts_with("[CUDA mem")) return true;  // copies and fills
    ProfiledLaunch launch;
    launch.kernel = valid_utf8(name);
    launch.line = lines_.number();
    launch.value.fill(kNotMeasured);
    launch.busy.fill(kNotMeasured);
    launch.microseconds =
        profiled_number(columns.of(cells, time.column)) * microseconds_in(time.unit);
    launch.value[static_cast<std::size_t>(Metric::Microseconds)] = launch.microseconds;
    if (out_.means) {
      launch.launches = whole_profiled_number(columns.of(cells, "Instances"), "Instances");
    } else {
      const auto size = [&](const char* x, const char* y, const char* z) {
        return dim3_of(columns.of(cells, x) + "," + columns.of(cells, y) + "," +
                       columns.of(cells, z));
      };
      launch.grid = size("GrdX", "GrdY", "GrdZ");
      launch.block = size("BlkX", "BlkY", "BlkZ");
      devices_.insert(columns.of(cells, "Device"));
      starts_.push_back(profiled_number(columns.of(cells, columns.names().front())));
    }
    out_.launches.push_back(std::move(launch));
    return true;
  }

  Profile finish() {
    check_profile(out_, "Duration or Avg");
    if (devices_.size() > 1)
      throw InputError({out_.file}, fmt::format("expected launches on one device, found those on "
                                                "{}",
                                                devices_.size()));
    if (!out_.means) sort_by_start();
    out_.conventions["tool"] = out_.means ? "Nsight Systems, means by kernel (cuda_gpu_kern_sum)"
                                          : "Nsight Systems, launches (cuda_gpu_trace)";
    if (devices_.size() == 1) out_.conventions["device"] = *devices_.begin();
    return std::move(out_);
  }

  void sort_by_start() {
    std::vector<std::pair<double, std::size_t>> order;  // start, position
    for (std::size_t i = 0; i < starts_.size(); ++i) order.emplace_back(starts_[i], i);
    std::ranges::sort(order);
    std::vector<ProfiledLaunch> sorted;
    for (const auto& [start, at] : order) sorted.push_back(std::move(out_.launches[at]));
    out_.launches = std::move(sorted);
  }

  CsvLines lines_;
  Profile out_;
  std::string line_of_names_;
  std::vector<double> starts_;
  std::set<std::string> devices_;
};

}  // namespace

Profile read_ncu_profile(std::istream& in, const std::string& file) {
  return NcuReader(in, file).read();
}

Profile read_ncu_profile(const std::string& file) {
  std::ifstream in = open_input(file, "a table of ncu --csv", Source::Stream);
  return read_ncu_profile(in, file);
}

Profile read_nsys_profile(std::istream& in, const std::string& file) {
  return NsysReader(in, file).read();
}

Profile read_nsys_profile(const std::string& file) {
  std::ifstream in = open_input(file, "a table of nsys stats --format csv", Source::Stream);
  return read_nsys_profile(in, file);
}

}  // namespace raddle::sim
