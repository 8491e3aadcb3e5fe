// SQLite without its C interface: statements that bind, step and throw.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace raddle::lab {

class Database {
 public:
  /// Opens or makes the file. Throws InputError when it cannot be opened or is no database.
  explicit Database(std::string path);
  /// In memory, for SQL of the user's: what is wrong with it is an InputError, and it reaches no
  /// file.
  Database();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& path() const { return path_; }
  /// One or several statements without values.
  void run(const char* sql);
  std::int64_t pragma(const char* name);
  std::int64_t last_row() const;

 private:
  friend class Statement;
  friend class Transaction;
  [[noreturn]] void fail() const;
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// Values are bound by position from 1 and stay bound; what they refer to must live until run() or
/// the last step(). Every call throws RunError, with a clear word when the disk is full, or
/// InputError when the file is damaged.
class Statement {
 public:
  /// One statement; InputError where there are more.
  Statement(Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(int at, std::string_view text);
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, double value);
  Statement& bind_blob(int at, std::string_view bytes);
  /// Does it, and makes it ready to be bound again.
  void run();
  /// True while there is a row.
  bool step();
  void reset();

  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  bool is_text(int column) const;
  std::string text(int column) const;
  std::int64_t whole(int column) const;
  double real(int column) const;
  std::string blob(int column) const;
  /// The row as bytes: types and values, as they are stored.
  std::string packed() const;

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// Rolled back unless commit() was called.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace raddle::lab
