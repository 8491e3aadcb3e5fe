// Fills structs from a configuration document by visiting their fields, and finds everything that
// is wrong with the document on the way: unknown keys, wrong types, values out of range, unknown
// choices. All errors are reported together, each with file, line, key, what was expected and what
// was found.
//
//   config::Reader reader(tree);
//   machine.visit(reader);                 // the fields of the top table
//   reader.enter("policy", ""); ... reader.leave();
//   for (auto& rule : machine.violations()) reader.fail(rule);
//   reader.finish();                       // throws InputError if there was anything
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/config/tree.h"

namespace raddle::config {

class Reader final : public FieldVisitor {
 public:
  /// `tree` must outlive the reader.
  explicit Reader(const Tree& tree);

  void field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
             std::string_view unit, std::string_view doc) override;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
             std::string_view unit, std::string_view doc) override;
  void field(std::string_view name, double& value, Range<double> range, std::string_view unit,
             std::string_view doc) override;
  void field(std::string_view name, bool& value, std::string_view doc) override;
  void field(std::string_view name, std::string& value, std::string_view doc) override;
  void enter(std::string_view name, std::string_view doc) override;
  void leave() override;

  /// Is there such a key in the current table?
  bool has(std::string_view name) const;
  /// Adds an error about a key of the current table, at its place if it is there, else at the
  /// table's.
  void fail(std::string_view name, const std::string& message);
  /// Adds an error about the document as a whole, e.g. values that contradict each other. Keys of
  /// the document that `message` names by their full path give the place (the first that was
  /// written).
  void fail(const std::string& message);
  /// Takes the keys of the current table that nobody visits as known (after an error that explains
  /// them).
  void ignore_rest();
  bool failed() const { return !errors_.empty(); }

  /// Every key that nobody visited is an error. Throws InputError with all errors, in order of
  /// place.
  void finish();

 protected:
  void choice_index(std::string_view name, std::uint32_t& position,
                    std::span<const std::string_view> names, std::string_view doc) override;

 private:
  struct Level {
    const Node* node;  ///< null: the document does not have this table
    std::string path;  ///< with a dot at its end, "" at the top
  };
  /// The value of a field that is being visited, null when it is left at its default.
  const Node* visit_key(std::string_view name);
  template <class T>
  void whole_number(std::string_view name, T& value, Range<T> range, std::string_view unit);
  void wrong(std::string_view name, const Node& found, const std::string& expected);
  void find_unknown(const Node& table, const std::string& path);
  std::string suggestion(std::string_view key, const std::string& path) const;

  std::vector<Level> levels_;
  std::map<std::string, std::set<std::string>> known_;  ///< visited names by table path
  std::set<std::string> ignored_;                       ///< paths of tables whose rest is ignored
  std::vector<Diagnostic> errors_;
};

}  // namespace raddle::config
