#include "raddle/lab/store/checksum.h"

#include <xxhash.h>

#include <array>
#include <bit>

#include "raddle/base/error.h"

namespace raddle::lab {

std::int64_t checksum_of(Database& database, std::int64_t run) {
  constexpr std::array kAll = {
      "SELECT id, key, configuration, analyses, program, status, reason, error, workload, "
      "parameters, gpu, seed, spec, state_hash, wall_seconds, peak_rss, host, finished, result "
      "FROM runs WHERE id = ?",
      "SELECT path, value FROM metrics WHERE run = ? ORDER BY path",
      "SELECT kernel, path, value FROM kernels WHERE run = ? ORDER BY kernel, path",
      "SELECT level, name, parameters FROM policies WHERE run = ? ORDER BY level"};
  std::uint64_t hash = 0;
  for (const char* sql : kAll) {
    hash = XXH64(sql, 1, hash);  // where one table ends and the next begins
    Statement rows(database, sql);
    rows.bind(1, run);
    while (rows.step()) {
      const std::string row = rows.packed();
      hash = XXH64(row.data(), row.size(), hash);
    }
  }
  return std::bit_cast<std::int64_t>(hash);
}

void check_run(Database& database, std::int64_t run) {
  Statement row(database, "SELECT checksum FROM runs WHERE id = ?");
  row.bind(1, run);
  if (row.step() && !row.is_null(0) && row.whole(0) == checksum_of(database, run)) return;
  throw InputError({database.path()},
                   "run " + std::to_string(run) +
                       " is not what was written (checksum): the file was damaged or altered; put "
                       "back a copy of it, or move it away and all runs are simulated again");
}

void seal_run(Database& database, std::int64_t run) {
  Statement update(database, "UPDATE runs SET checksum = ? WHERE id = ?");
  update.bind(1, checksum_of(database, run)).bind(2, run).run();
}

}  // namespace raddle::lab
