// Results of runs in a SQLite file. Schema and what is promised of it: experiments/README.md,
// "Results". One process writes at a time; the lock is the results folder's (FolderLock).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/lab/plan/plan.h"
#include "raddle/lab/store/sqlite.h"

namespace raddle::lab {

inline constexpr int kStoreSchema = 2;

/// What a run has come to.
struct RunRecord {
  const PlannedRun* run = nullptr;
  bool done = false;
  std::string reason, error;  ///< of a failure
  double wall_seconds = 0;
  std::optional<std::uint64_t> peak_rss;  ///< bytes
  std::string host, finished;
  Json result;  ///< null when there is none
};

struct StoredRun {
  std::int64_t id = 0;
  std::string key;
  bool done = false;
  std::string reason, error;
  double wall_seconds = 0;
};

class Store {
 public:
  /// Opens the file, making it when it is not there; one of an earlier schema version is brought up
  /// to this one. Throws InputError when it is something else or of a later version.
  explicit Store(const std::string& path);

  /// The run of this program with that configuration and at least these analyses, done or failed;
  /// one that is done is preferred. Throws InputError when it is not what was stored (checksum.h);
  /// what metrics() and result() then give of it is checked by that.
  std::optional<StoredRun> find(const PlannedRun& run);
  bool has(const std::string& key);
  /// In one transaction; all or nothing.
  void add(const RunRecord& record);
  void remove(const std::string& key);
  /// Replaces what the experiment calls its runs at this scale.
  void set_cells(const PlannedExperiment& planned, const std::string& scale,
                 const std::vector<std::string>& run_keys);
  std::map<std::string, double> metrics(std::int64_t run);
  /// The result JSON; null when there is none.
  Json result(std::int64_t run);
  /// Largest peak memory of a finished run of that workload and parameters, whatever the policy.
  std::optional<std::uint64_t> peak_rss(const std::string& workload, const Json& parameters);
  /// Mean time of finished runs of that workload and parameters.
  std::optional<double> mean_seconds(const std::string& workload, const Json& parameters);

  /// What export_csv() writes.
  static constexpr std::array<std::string_view, 5> kExported = {
      "runs.csv", "cells.csv", "tidy.csv", "policy_statistics.csv", "failures.csv"};
  /// Writes tables and views as CSV into `folder`, of these experiments ("ccws.fig7") at `scale`.
  void export_csv(const std::string& folder, const std::vector<std::string>& experiments,
                  const std::string& scale);
  Database& database() { return database_; }

 private:
  Database database_;
};

/// SQL of the schema, as documented.
const char* schema_sql();

/// zstd.
std::string compressed(std::string_view text);
/// Throws RunError when it is no such data.
std::string decompressed(std::string_view bytes);

}  // namespace raddle::lab
