// raddle query: kept results as tables (report/kept_tables.h), asked in SQL.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <limits>
#include <set>

#include "raddle/base/csv_table.h"
#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/output.h"
#include "raddle/lab/store/sqlite.h"
#include "raddle/report/kept_tables.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using lab::Statement;
using report::KeptTable;

/// SELECT ... or WITH ...: no file is asked for in this way.
bool is_question(const std::string& word) {
  const std::size_t end = word.find_first_of(" \t\n");
  if (end == std::string::npos) return false;
  std::string first = word.substr(0, end);
  std::ranges::transform(first, first.begin(), [](unsigned char c) { return std::toupper(c); });
  return first == "SELECT" || first == "WITH";
}

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Whole numbers of SQLite end at 2^63 - 1: what is above, such as a seed, is a text.
Json for_sqlite(const Json& value) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= kLargest;
  return fits ? value : Json(std::to_string(value.get<std::uint64_t>()));
}

/// The value must live until the row is inserted.
void bind_value(Statement& insertion, int at, const Json& value) {
  if (value.is_string()) insertion.bind(at, std::string_view(value.get_ref<const std::string&>()));
  else if (value.is_boolean()) insertion.bind(at, std::int64_t{value.get<bool>()});
  else if (value.is_number_float()) insertion.bind(at, value.get<double>());
  else if (value.is_number()) insertion.bind(at, value.get<std::int64_t>());
}

void insert(lab::Database& database, const KeptTable& table) {
  std::string names, places;
  for (const std::string& column : table.columns) {
    names += (names.empty() ? "" : ", ") + quoted(column);
    places += places.empty() ? "?" : ", ?";
  }
  database.run(fmt::format("CREATE TABLE {} ({})", quoted(table.name), names).c_str());
  Statement insertion(
      database, fmt::format("INSERT INTO {} VALUES ({})", quoted(table.name), places).c_str());
  for (const std::vector<Json>& row : table.rows) {
    std::vector<Json> values;
    for (const Json& value : row) values.push_back(for_sqlite(value));
    for (std::size_t c = 0; c < values.size(); ++c)
      bind_value(insertion, static_cast<int>(c) + 1, values[c]);
    insertion.run();
  }
}

Json value_of(const Statement& rows, int column) {
  if (rows.is_null(column)) return nullptr;
  const std::string text = rows.text(column);
  if (rows.is_text(column) || text.empty()) return valid_utf8(text);
  if (text.find_first_of(".eEIn") != std::string::npos) return rows.real(column);
  return rows.whole(column);
}

std::string as_csv(Statement& rows) {
  std::string out;
  for (int c = 0; c < rows.columns(); ++c) out += (c == 0 ? "" : ",") + csv_cell(rows.name(c));
  out += "\n";
  while (rows.step()) {
    for (int c = 0; c < rows.columns(); ++c) out += (c == 0 ? "" : ",") + csv_cell(rows.text(c));
    out += "\n";
  }
  return out;
}

std::string as_json(Statement& rows) {
  std::set<std::string> names;
  for (int c = 0; c < rows.columns(); ++c)
    if (!names.insert(rows.name(c)).second)
      throw InputError("query: expected columns of different names with --json, found '" +
                       cut(rows.name(c), 80) + "' twice (AS names one)");
  Json out = Json::array();
  while (rows.step()) {
    Json& row = out.emplace_back(Json::object());
    for (int c = 0; c < rows.columns(); ++c) row[rows.name(c)] = value_of(rows, c);
  }
  return json_dump(out, 2) + "\n";
}

/// Columns as wide as their longest value; numbers to the right.
std::string as_table(Statement& rows) {
  const auto columns = static_cast<std::size_t>(rows.columns());
  std::vector<std::vector<std::string>> lines(1);
  std::vector<std::size_t> width(columns);
  std::vector<bool> is_text(columns, false);
  for (std::size_t c = 0; c < columns; ++c) lines[0].push_back(rows.name(static_cast<int>(c)));
  while (rows.step()) {
    std::vector<std::string>& line = lines.emplace_back();
    for (int c = 0; c < rows.columns(); ++c) {
      line.push_back(cut(valid_utf8(rows.text(c)), 60));
      if (rows.is_text(c)) is_text[static_cast<std::size_t>(c)] = true;
    }
  }
  for (const auto& line : lines)
    for (std::size_t c = 0; c < columns; ++c) width[c] = std::max(width[c], line[c].size());
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < columns; ++c)
      text += (c == 0 ? "" : "  ") + (is_text[c] ? fmt::format("{:<{}}", line[c], width[c])
                                                 : fmt::format("{:>{}}", line[c], width[c]));
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string tables_text(const std::vector<KeptTable>& tables) {
  std::string out;
  for (const KeptTable& table : tables) {
    out += fmt::format("{} ({} {})\n ", table.name, table.rows.size(),
                       table.rows.size() == 1 ? "row" : "rows");
    for (const std::string& column : table.columns) out += " " + column;
    out += "\n";
  }
  return out;
}

Json tables_json(const std::vector<KeptTable>& tables) {
  Json out = Json::array();
  for (const KeptTable& table : tables)
    out.push_back({{"table", table.name}, {"rows", table.rows.size()}, {"columns", table.columns}});
  return out;
}

struct QueryCommand {
  std::vector<std::string> words;
  bool json = false, csv = false;

  int operator()() const {
    if (json && csv) throw InputError("query: expected --json or --csv, found both");
    std::string question;
    std::vector<report::KeptRun> runs;
    for (const std::string& word : words) {
      if (!is_question(word)) {
        std::ranges::move(report::read_kept(read_json(word), word).runs, std::back_inserter(runs));
        continue;
      }
      if (!question.empty()) throw InputError("query: expected one SELECT, found two");
      question = word;
    }
    if (runs.empty()) throw InputError("query: expected a file with a result, found none");
    const std::vector<KeptTable> tables = report::tables_of(runs);
    std::fputs(question.empty() ? described(tables).c_str() : answer(tables, question).c_str(),
               stdout);
    return 0;
  }

 private:
  std::string described(const std::vector<KeptTable>& tables) const {
    if (csv) throw InputError("--csv: expected a question (SELECT ...), found none");
    return json ? json_dump(tables_json(tables), 2) + "\n" : tables_text(tables);
  }

  std::string answer(const std::vector<KeptTable>& tables, const std::string& question) const {
    lab::Database database;
    database.run("BEGIN");
    for (const KeptTable& table : tables) insert(database, table);
    database.run("COMMIT");
    Statement rows(database, question.c_str());
    if (rows.columns() == 0)
      throw InputError("query: expected a SELECT, found: " + cut(question, 80));
    return json ? as_json(rows) : csv ? as_csv(rows) : as_table(rows);
  }
};

}  // namespace

Command add_query(CLI::App& app) {
  auto command = std::make_shared<QueryCommand>();
  CLI::App* query = app.add_subcommand("query", "kept results as tables, asked in SQL");
  query
      ->add_option("results", command->words,
                   "kept by --json of run, replay, compare or exec, and a question in SQLite's SQL "
                   "(SELECT ... or WITH ...); without one: tables, columns and numbers of rows")
      ->required()
      ->type_name("FILE.json... [\"SELECT ...\"]");
  query->add_flag("--json", command->json, "the answer as JSON, an object for each row");
  query->add_flag("--csv", command->csv, "the answer as CSV");
  query->footer(
      "raddle compare bfs --policies lrr,gto --json c.json && raddle query c.json\n"
      "raddle query c.json \"SELECT policies, cycles, l1d_hit_rate FROM runs\"\n"
      "raddle query c.json \"SELECT kernel, reason, sum(scheduler_cycles) AS cycles FROM "
      "kernel_stalls WHERE run = 0 GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5\"");
  return {query, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
