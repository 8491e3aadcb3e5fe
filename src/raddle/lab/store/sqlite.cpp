#include "raddle/lab/store/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/files.h"

namespace raddle::lab {

Database::Database(std::string path) : path_(std::move(path)) {
  // Of what is there but is no file SQLite says only that it cannot open it.
  if (struct stat info{}; lstat(path_.c_str(), &info) == 0) check_readable(path_, "a database");
  const int code = sqlite3_open(path_.c_str(), &handle_);
  if (code != SQLITE_OK) {
    const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close(handle_);
    throw InputError({path_}, "cannot be opened: " + why);
  }
  sqlite3_busy_timeout(handle_, 10'000);
}

Database::Database() {
  if (sqlite3_open(":memory:", &handle_) != SQLITE_OK) {
    sqlite3_close(handle_);
    throw RunError("SQLite: out of memory");
  }
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail() const {
  const int code = sqlite3_errcode(handle_) & 0xff;
  const std::string why = sqlite3_errmsg(handle_);
  if (path_.empty()) throw InputError("SQL: " + why);
  if (code == SQLITE_NOTADB)
    throw InputError({path_}, "is no results file of Raddle (no SQLite database)");
  if (code == SQLITE_FULL || code == SQLITE_IOERR)
    throw RunError(path_ + ": cannot be written (" + why +
                   "); is the disk full? Results up to here are kept; the same command goes on");
  // Also what a sound file of ours never answers: a table that is not there, a key that is twice
  // there.
  if (code == SQLITE_CORRUPT || code == SQLITE_ERROR || code == SQLITE_CONSTRAINT)
    throw InputError({path_}, "is damaged (" + why +
                                  "); put back a copy of it, or move it away and all runs are "
                                  "simulated again");
  throw RunError(path_ + ": " + why);
}

void Database::run(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

std::int64_t Database::pragma(const char* name) {
  Statement statement(*this, (std::string("PRAGMA ") + name).c_str());
  return statement.step() ? statement.whole(0) : 0;
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

Statement::Statement(Database& database, const char* sql) : database_(database) {
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(database.handle_, sql, -1, &handle_, &rest) != SQLITE_OK) database.fail();
  if (std::string_view(rest).find_first_not_of("; \t\r\n") == std::string_view::npos) return;
  sqlite3_finalize(handle_);
  throw InputError("SQL: expected one statement, found more: " + std::string(rest));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement& Statement::bind(int at, std::string_view text) {
  if (sqlite3_bind_text(handle_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC) !=
      SQLITE_OK)
    database_.fail();
  return *this;
}

Statement& Statement::bind(int at, std::int64_t value) {
  if (sqlite3_bind_int64(handle_, at, value) != SQLITE_OK) database_.fail();
  return *this;
}

Statement& Statement::bind(int at, double value) {
  if (sqlite3_bind_double(handle_, at, value) != SQLITE_OK) database_.fail();
  return *this;
}

Statement& Statement::bind_blob(int at, std::string_view bytes) {
  if (sqlite3_bind_blob(handle_, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC) !=
      SQLITE_OK)
    database_.fail();
  return *this;
}

void Statement::run() {
  while (step()) continue;
  reset();
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.fail();
}

void Statement::reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

int Statement::columns() const { return sqlite3_column_count(handle_); }
std::string Statement::name(int column) const { return sqlite3_column_name(handle_, column); }
bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_TEXT;
}
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return text == nullptr ? "" : text;
}
std::int64_t Statement::whole(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }
std::string Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return bytes == nullptr
             ? ""
             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)));
}

std::string Statement::packed() const {
  std::string out;
  const auto add = [&](const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (int c = 0; c < columns(); ++c) {
    const int type = sqlite3_column_type(handle_, c);
    out += static_cast<char>(type);
    if (type == SQLITE_INTEGER) add(whole(c));
    if (type == SQLITE_FLOAT) add(real(c));
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) continue;
    const std::string bytes = blob(c);
    add(std::uint64_t{bytes.size()});
    out += bytes;
  }
  return out;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // A full disk has rolled back already; then there is nothing to undo.
  if (open_) sqlite3_exec(database_.handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  RADDLE_ASSERT(open_);
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace raddle::lab
