#include "raddle/lab/store/store.h"

#include <fmt/format.h>
#include <zstd.h>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/plan/result_numbers.h"
#include "raddle/lab/store/checksum.h"

namespace raddle::lab {

namespace {

// A result packs to a tenth; zstd packs at most to some 1/40,000. What is small may be of any size.
constexpr std::uint64_t kMaxRatio = 1000, kAnySize = std::uint64_t{1} << 20;
constexpr std::int64_t kApplicationId = 0x5261646c;  // "Radl"

/// Is the sum over launches the number of all of them together?
bool adds_up(std::string_view path) {
  if (path == "stream" || path.ends_with("_cycle") || path.starts_with("cycles_m")) return false;
  for (const std::string_view part :
       {"_rate", "_mean_", "_mpki", "ipc", "most_mshrs", "resident.", "parent."})
    if (path.find(part) != std::string_view::npos) return false;
  return true;
}

/// Of the launches of each kernel together.
std::map<std::string, std::map<std::string, double>> kernels_of(const Json& result) {
  std::map<std::string, std::map<std::string, double>> out;
  if (result.is_null()) return out;
  for (const char* list : {"kernels", "kernels_by_name"})
    for (const Json& launch : result.value(list, Json::array())) {
      auto& sums = out[launch.value("name", "")];
      for (const auto& [path, value] : numbers_of(launch))
        if (adds_up(path)) sums[path] += value;
      if (!launch.contains("launches")) ++sums["launches"];
    }
  return out;
}

/// Analyses as the database holds them.
std::string analyses_text(const std::map<std::string, PlacedText>& analyses) {
  Json out = Json::object();
  for (const auto& [label, text] : analyses) out[label] = text.text;
  return json_dump(out);
}

bool serves(const std::string& stored, const std::map<std::string, PlacedText>& wanted) {
  const Json have = parse_json(stored, "the results");
  for (const auto& [label, text] : wanted)
    if (!have.contains(label) || have[label] != text.text) return false;
  return true;
}

}  // namespace

std::string compressed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  RADDLE_ASSERT(!ZSTD_isError(size));
  out.resize(size);
  return out;
}

std::string decompressed(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
      size > kAnySize + kMaxRatio * bytes.size())
    throw RunError("a stored result is damaged");
  std::string out(size, '\0');
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size) throw RunError("a stored result is damaged");
  return out;
}

const char* schema_sql() {
  return R"sql(
CREATE TABLE runs (
  id            INTEGER PRIMARY KEY,
  key           TEXT NOT NULL UNIQUE,
  configuration TEXT NOT NULL,
  analyses      TEXT NOT NULL,
  program       TEXT NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  reason        TEXT,
  error         TEXT,
  workload      TEXT NOT NULL,
  parameters    TEXT NOT NULL,
  gpu           TEXT NOT NULL,
  seed          INTEGER NOT NULL,
  spec          TEXT NOT NULL,
  state_hash    TEXT,
  wall_seconds  REAL NOT NULL,
  peak_rss      INTEGER,
  host          TEXT NOT NULL,
  finished      TEXT NOT NULL,
  result        BLOB,
  checksum      INTEGER
);
CREATE INDEX runs_configuration ON runs (configuration);
CREATE INDEX runs_workload ON runs (workload, parameters);
CREATE TABLE metrics (
  run   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  path  TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (run, path)) WITHOUT ROWID;
CREATE TABLE kernels (
  run    INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  kernel TEXT NOT NULL,
  path   TEXT NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (run, kernel, path)) WITHOUT ROWID;
CREATE TABLE policies (
  run        INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  level      TEXT NOT NULL,
  name       TEXT NOT NULL,
  parameters TEXT NOT NULL,
  PRIMARY KEY (run, level)) WITHOUT ROWID;
CREATE TABLE cells (
  experiment TEXT NOT NULL,
  scale      TEXT NOT NULL,
  workload   TEXT NOT NULL,
  variant    TEXT NOT NULL,
  point      TEXT NOT NULL,
  run_key    TEXT NOT NULL,
  PRIMARY KEY (experiment, scale, workload, variant, point)) WITHOUT ROWID;
CREATE VIEW tidy AS
  SELECT c.experiment, c.scale, c.workload, c.variant, c.point, m.path AS metric, m.value
    FROM cells c JOIN runs r ON r.key = c.run_key AND r.status = 'done'
    JOIN metrics m ON m.run = r.id;
CREATE VIEW policy_statistics AS
  SELECT r.id AS run, p.level, p.name,
         substr(m.path, length('policies.' || p.level || '.statistics.') + 1) AS statistic, m.value
    FROM runs r JOIN policies p ON p.run = r.id
    JOIN metrics m ON m.run = r.id AND m.path GLOB 'policies.' || p.level || '.statistics.*';
CREATE VIEW failures AS
  SELECT c.experiment, c.scale, c.workload, c.variant, c.point, r.reason, r.error
    FROM cells c JOIN runs r ON r.key = c.run_key AND r.status = 'failed';
)sql";
}

namespace {
/// Files of this schema from before it had the table of kernels.
void add_kernel_table(Database& database) {
  Statement there(database, "SELECT 1 FROM sqlite_master WHERE name = 'kernels'");
  if (there.step()) return;
  const std::string all = schema_sql();
  const std::size_t from = all.find("CREATE TABLE kernels");
  RADDLE_ASSERT(from != std::string::npos);
  database.run(all.substr(from, all.find(';', from) + 1 - from).c_str());
}

/// From version 1, whose rows had no checksums: they get that of what they are now.
void add_checksums(Database& database) {
  Transaction whole(database);
  add_kernel_table(database);
  database.run("ALTER TABLE runs ADD COLUMN checksum INTEGER");
  std::vector<std::int64_t> runs;
  for (Statement row(database, "SELECT id FROM runs"); row.step();) runs.push_back(row.whole(0));
  for (const std::int64_t run : runs) seal_run(database, run);
  database.run("PRAGMA user_version = 2");
  whole.commit();
}
}  // namespace

Store::Store(const std::string& path) : database_(path) {
  database_.run("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;");
  const std::int64_t application = database_.pragma("application_id"),
                     version = database_.pragma("user_version");
  const std::int64_t tables = [&] {
    Statement count(database_, "SELECT count(*) FROM sqlite_master");
    count.step();
    return count.whole(0);
  }();
  if (tables == 0 && application == 0) {
    Transaction whole(database_);
    database_.run(schema_sql());
    database_.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                              kApplicationId, kStoreSchema)
                      .c_str());
    whole.commit();
    return;
  }
  if (application != kApplicationId)
    throw InputError({path}, "is a database, but no results file of Raddle");
  if (version == 1) add_checksums(database_);
  else if (version != kStoreSchema)
    throw InputError({path}, fmt::format("expected results of schema version {}, found version {}; "
                                         "use another --results folder",
                                         kStoreSchema, version));
}

std::optional<StoredRun> Store::find(const PlannedRun& run) {
  Statement rows(database_,
                 "SELECT id, key, status, reason, error, wall_seconds, analyses FROM runs "
                 "WHERE configuration = ? AND program = ? ORDER BY status, id");
  rows.bind(1, run.spec.configuration).bind(2, run.program);
  while (rows.step()) {  // 'done' sorts before 'failed'
    check_run(database_, rows.whole(0));
    if (serves(rows.text(6), run.spec.analyses))
      return StoredRun{rows.whole(0), rows.text(1), rows.text(2) == "done",
                       rows.text(3),  rows.text(4), rows.real(5)};
  }
  return std::nullopt;
}

bool Store::has(const std::string& key) {
  Statement row(database_, "SELECT 1 FROM runs WHERE key = ?");
  row.bind(1, key);
  return row.step();
}

void Store::add(const RunRecord& record) {
  RADDLE_ASSERT(record.run != nullptr);
  const PlannedRun& run = *record.run;
  RADDLE_ASSERT(!run.key.empty());
  const std::string analyses = analyses_text(run.spec.analyses);
  const std::string parameters = json_dump(run.parameters);
  const std::string spec = json_dump(to_json(run.spec, "cell"));
  const bool no_result = record.result.is_null();
  const std::string result = no_result ? "" : compressed(json_dump(record.result));
  const std::string state_hash = no_result ? "" : record.result.value("state_hash", "");
  Transaction whole(database_);
  Statement insert(database_,
                   "INSERT INTO runs (key, configuration, analyses, program, status, reason, error,"
                   " workload, parameters, gpu, seed, spec, state_hash, wall_seconds, peak_rss,"
                   " host, finished, result)"
                   " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.bind(1, run.key).bind(2, run.spec.configuration).bind(3, analyses).bind(4, run.program);
  insert.bind(5, record.done ? "done" : "failed");
  if (!record.done) insert.bind(6, record.reason).bind(7, record.error);
  insert.bind(8, run.workload).bind(9, parameters).bind(10, run.gpu);
  insert.bind(11, static_cast<std::int64_t>(run.spec.seed)).bind(12, spec);
  if (!state_hash.empty()) insert.bind(13, state_hash);
  insert.bind(14, record.wall_seconds);
  if (record.peak_rss) insert.bind(15, static_cast<std::int64_t>(*record.peak_rss));
  insert.bind(16, record.host).bind(17, record.finished);
  if (!result.empty()) insert.bind_blob(18, result);
  insert.run();
  const std::int64_t id = database_.last_row();

  Statement metric(database_, "INSERT INTO metrics (run, path, value) VALUES (?,?,?)");
  for (const auto& [path, value] : numbers_of(record.result)) {
    metric.bind(1, id).bind(2, path).bind(3, value);
    metric.run();
  }
  Statement kernel(database_, "INSERT INTO kernels (run, kernel, path, value) VALUES (?,?,?,?)");
  for (const auto& [name, sums] : kernels_of(record.result))
    for (const auto& [path, value] : sums) {
      kernel.bind(1, id).bind(2, name).bind(3, path).bind(4, value);
      kernel.run();
    }
  Statement policy(database_,
                   "INSERT INTO policies (run, level, name, parameters) VALUES (?,?,?,?)");
  const Json policies =
      no_result ? Json::object() : record.result.value("policies", Json::object());
  for (const auto& [level, chosen] : policies.items()) {
    const std::string name = chosen.value("name", ""),
                      of = json_dump(chosen.value("parameters", Json::object()));
    policy.bind(1, id).bind(2, level).bind(3, name).bind(4, of);
    policy.run();
  }
  seal_run(database_, id);
  whole.commit();
}

void Store::remove(const std::string& key) {
  Statement gone(database_, "DELETE FROM runs WHERE key = ?");
  gone.bind(1, key).run();
}

void Store::set_cells(const PlannedExperiment& planned, const std::string& scale,
                      const std::vector<std::string>& run_keys) {
  const Experiment& e = *planned.experiment;
  RADDLE_ASSERT(planned.runs.size() == planned.grid.cells().size());
  const std::string id = e.full_id();
  Transaction whole(database_);
  Statement gone(database_, "DELETE FROM cells WHERE experiment = ? AND scale = ?");
  gone.bind(1, id).bind(2, scale).run();
  Statement insert(database_,
                   "INSERT INTO cells (experiment, scale, workload, variant, point, run_key) "
                   "VALUES (?,?,?,?,?,?)");
  for (std::size_t i = 0; i < planned.grid.cells().size(); ++i) {
    if (planned.runs[i] == kNoRun) continue;
    const Cell& cell = planned.grid.cells()[i];
    RADDLE_ASSERT(planned.runs[i] < run_keys.size());
    const std::string point = json_dump(point_json(e, cell));
    insert.bind(1, id).bind(2, scale).bind(3, e.workloads[cell.workload].name);
    insert.bind(4, e.variants[cell.variant].name).bind(5, point);
    insert.bind(6, run_keys[planned.runs[i]]).run();
  }
  whole.commit();
}

std::map<std::string, double> Store::metrics(std::int64_t run) {
  std::map<std::string, double> out;
  Statement rows(database_, "SELECT path, value FROM metrics WHERE run = ?");
  rows.bind(1, run);
  while (rows.step()) out[rows.text(0)] = rows.real(1);
  return out;
}

Json Store::result(std::int64_t run) {
  Statement row(database_, "SELECT result FROM runs WHERE id = ?");
  row.bind(1, run);
  if (!row.step() || row.is_null(0)) return {};
  return parse_json(decompressed(row.blob(0)), "a stored result");
}

std::optional<std::uint64_t> Store::peak_rss(const std::string& workload, const Json& parameters) {
  const std::string text = json_dump(parameters);
  Statement row(database_, "SELECT max(peak_rss) FROM runs WHERE workload = ? AND parameters = ?");
  row.bind(1, workload).bind(2, text);
  if (!row.step() || row.is_null(0)) return std::nullopt;
  return static_cast<std::uint64_t>(row.whole(0));
}

std::optional<double> Store::mean_seconds(const std::string& workload, const Json& parameters) {
  const std::string text = json_dump(parameters);
  Statement row(database_,
                "SELECT avg(wall_seconds) FROM runs WHERE workload = ? AND parameters = ? AND "
                "status = 'done'");
  row.bind(1, workload).bind(2, text);
  if (!row.step() || row.is_null(0)) return std::nullopt;
  return row.real(0);
}

namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

/// Header and rows of a statement that is bound already.
std::string csv(Statement& rows) {
  std::string out;
  for (int c = 0; c < rows.columns(); ++c) out += (c > 0 ? "," : "") + csv_field(rows.name(c));
  out += '\n';
  while (rows.step()) {
    for (int c = 0; c < rows.columns(); ++c) {
      if (c > 0) out += ',';
      // Numbers as the shortest text that reads back the same.
      if (rows.is_null(c)) continue;
      out += rows.is_text(c) ? csv_field(rows.text(c)) : fmt::format("{}", rows.real(c));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

void Store::export_csv(const std::string& folder, const std::vector<std::string>& experiments,
                       const std::string& scale) {
  const Json ids = experiments;
  const std::string list = json_dump(ids);
  constexpr const char* kOfThese = "scale = ?1 AND experiment IN (SELECT value FROM json_each(?2))";
  const std::string runs = fmt::format(
      "(SELECT id FROM runs WHERE key IN (SELECT run_key FROM cells WHERE {}))", kOfThese);
  // As kExported has them.
  const std::array<std::string, kExported.size()> queries = {
      "SELECT id, key, configuration, analyses, program, status, reason, error, workload, "
      "parameters, gpu, seed, state_hash, wall_seconds, peak_rss, host, finished FROM runs "
      "WHERE id IN " +
          runs + " ORDER BY id",
      fmt::format("SELECT * FROM cells WHERE {} ORDER BY 1, 2, 3, 4, 5", kOfThese),
      fmt::format("SELECT * FROM tidy WHERE {} ORDER BY 1, 2, 3, 4, 5, 6", kOfThese),
      "SELECT * FROM policy_statistics WHERE run IN " + runs + " ORDER BY 1, 2, 3, 4",
      fmt::format("SELECT * FROM failures WHERE {} ORDER BY 1, 2, 3, 4, 5", kOfThese)};
  Statement exported(database_, runs.substr(1, runs.size() - 2).c_str());
  exported.bind(1, scale).bind(2, list);
  while (exported.step()) check_run(database_, exported.whole(0));
  for (std::size_t i = 0; i < queries.size(); ++i) {
    Statement rows(database_, queries[i].c_str());
    rows.bind(1, scale).bind(2, list);
    write_whole(folder + "/" + std::string(kExported[i]), csv(rows));
  }
}

}  // namespace raddle::lab
