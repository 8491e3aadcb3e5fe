// A configuration document in memory: nested tables whose every key knows where it was written, so
// that an error can say so. Comes from a TOML file, from JSON (also the "config" member of a
// result) or from nothing, and takes changes from the command line. What the keys mean is the
// reader's business (reader.h). Lists are kept of TOML only, for experiment files (lab); no field
// has one, nor a date, and readers of fields refuse both by name.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::config {

/// A value as written, with its place.
struct Node {
  struct Entry;
  using Table = std::vector<Entry>;
  struct List {
    std::vector<Node> items;
  };
  /// Something no field can hold: "a list" in JSON, "a date", "null".
  struct Other {
    std::string what;
  };
  /// Whole numbers are std::uint64_t, or std::int64_t when negative.
  std::variant<Table, bool, std::uint64_t, std::int64_t, double, std::string, List, Other> value;
  Place place;
  /// Of a value set by an option: as it was written, so that a field of text can take `4` for "4".
  std::string word = {};

  const Table* table() const { return std::get_if<Table>(&value); }
  Table* table() { return std::get_if<Table>(&value); }
  const std::vector<Node>* list() const {
    const List* list = std::get_if<List>(&value);
    return list ? &list->items : nullptr;
  }
  /// The member of that name; null when there is none or this is not a table.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// For "found ..." in an error: `64`, `"abc"`, `a table`.
  std::string shown() const;
};

struct Node::Entry {
  std::string key;
  Place key_place;
  Node node;
};

/// Paths are keys joined by dots: "sm.l1d.size_kib".
class Tree {
 public:
  /// An empty document.
  Tree() = default;
  /// `name` stands for the file in errors. Throws InputError on a syntax error, and when there are
  /// no keys.
  static Tree from_toml(std::string_view text, const std::string& name);
  /// A table of keys, or a result of which the member "config" is taken.
  static Tree from_json(std::string_view text, const std::string& name);
  /// Reads a file, JSON if its first character is '{', else TOML. Throws InputError also when it
  /// cannot be read, is empty, is not text or is larger than 64 MiB.
  static Tree from_file(const std::string& path);

  /// Sets one value, as `--set path=value` does. `value` is a TOML value; what is none is taken as
  /// text ("lrr", or nothing). An inline table is merged. `origin` stands for the file in errors.
  /// Throws InputError when the path is not keys joined by dots.
  void set(std::string_view path, std::string_view value, const std::string& origin);
  /// Splits "path=value" and sets it. Throws InputError when there is no '='.
  void set_option(std::string_view text, const std::string& origin);
  /// `--policy LEVEL=NAME[:key=value,...]`: replaces the table policy.LEVEL (parameters of the
  /// policy that was there mean nothing to the new one). Throws InputError when it does not have
  /// that form.
  void set_policy(std::string_view text, const std::string& origin);
  /// Lays `over` on top: its values win, tables are merged.
  void merge(const Tree& over);
  /// Removes a key with all below it; nothing happens when it is not there.
  void erase(std::string_view path);

  /// The node at `path`, null when there is none.
  const Node* find(std::string_view path) const;
  const Node& root() const { return root_; }

 private:
  explicit Tree(Node root) : root_(std::move(root)) {}
  Node root_{Node::Table{}, {}};
};

}  // namespace raddle::config
