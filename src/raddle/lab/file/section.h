// One table of an experiment file while it is read: typed values, lists, and every problem with its
// place. (config::Reader fills structs with fixed fields; these files are lists and tables of
// names.)
#pragma once
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/config/tree.h"
#include "raddle/lab/file/experiment.h"

namespace raddle::lab {

/// Everything that is wrong, told at once.
class Problems {
 public:
  void add(Place place, const std::string& message);
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  /// Throws InputError with all of them in order of place, each once, when there are any.
  void finish();

 private:
  std::vector<Diagnostic> all_;
};

/// What must not hold of a table that has been read, and what to say of `key` where it does.
struct Rule {
  bool broken;
  std::string_view key;
  std::string_view message;
};

class Section {
 public:
  /// `path` names the table in errors: "figures[0]"; "" at the top. `table` and `problems` must
  /// outlive the section. Precondition: `node` is a table.
  Section(const config::Node& node, std::string path, Problems& problems);

  /// Value of a key, null when it is not there; the key is then known.
  const config::Node* take(std::string_view key);
  bool has(std::string_view key) const;
  const Place& place() const { return node_->place; }
  Problems& problems() const { return *problems_; }
  /// "figures[0].title"
  std::string key_path(std::string_view key) const;

  // A wrong or missing value is a problem; the default is returned.
  std::optional<std::string> text(std::string_view key);
  std::optional<PlacedText> placed_text(std::string_view key);
  std::string text(std::string_view key, std::string_view otherwise);
  std::string needed_text(std::string_view key);
  std::optional<double> number(std::string_view key, Range<double> range = {});
  std::optional<std::uint64_t> whole(std::string_view key, Range<std::uint64_t> range = {});
  bool flag(std::string_view key);
  /// Position in `names`.
  std::optional<std::size_t> choice(std::string_view key, std::span<const std::string_view> names);
  /// A list of texts, or one text alone; none of them empty or twice.
  std::vector<PlacedText> texts(std::string_view key);
  std::optional<Formula> formula(std::string_view key, bool condition = false);
  std::optional<Formula> needed_formula(std::string_view key, bool condition = false);
  /// A table of values; nested tables are paths.
  Settings settings(std::string_view key);
  std::optional<Section> section(std::string_view key);
  /// The items of a list; none when it is not there.
  std::span<const config::Node> items(std::string_view key, const std::string& expected = "a list");
  /// [[key]], or key = [{...}, ...].
  std::vector<Section> sections(std::string_view key);
  /// Item `at` of the list `key`, which is a table.
  Section item(std::string_view key, std::size_t at, const config::Node& node) const;

  /// Keys of the table as written, in order of writing, for tables of names. They are then known.
  std::vector<const config::Node::Entry*> entries();

  void wrong(std::string_view key, const config::Node& found, const std::string& expected);
  void fail(std::string_view key, const std::string& message);
  void check(std::initializer_list<Rule> rules);
  /// Each of these keys that is there is a problem.
  void refuse(std::initializer_list<std::string_view> keys, const std::string& message);
  /// Is it there? If not, that is a problem.
  bool needs(std::string_view key, const std::string& expected);
  /// Every key that nobody took is a problem.
  void finish();

 private:
  /// What `convert` makes of the value; nothing, with a problem, where it makes nothing.
  template <class Convert>
  auto value(std::string_view key, const std::string& expected, Convert convert);

  const config::Node* node_;
  std::string path_;
  Problems* problems_;
  std::set<std::string, std::less<>> known_;
};

/// A number, text or truth value as JSON; nothing for tables, lists and dates.
std::optional<Json> scalar(const config::Node& node);
std::optional<double> number_of(const config::Node& node);
/// Parses, or adds a problem.
std::optional<Formula> formula_of(const config::Node& node, const std::string& key, bool condition,
                                  Problems& problems);

}  // namespace raddle::lab
