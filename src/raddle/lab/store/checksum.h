// Is a run in the database what was put there? SQLite notices a page that is no page, not a digit
// that has become another one.
#pragma once
#include <cstdint>

#include "raddle/lab/store/sqlite.h"

namespace raddle::lab {

/// Over the run's row and all rows of metrics, kernels and policies that are its own, as stored:
/// xxh64, seen as a signed number, as SQLite has them.
std::int64_t checksum_of(Database& database, std::int64_t run);

/// Throws InputError naming file and run unless its checksum is that of what is stored.
void check_run(Database& database, std::int64_t run);

/// Writes the checksum of what is stored now.
void seal_run(Database& database, std::int64_t run);

}  // namespace raddle::lab
