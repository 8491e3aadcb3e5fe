#include "raddle/config/reader.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "raddle/config/spelling.h"

namespace raddle::config {

namespace {

template <class T>
std::string bound_text(T value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// "a whole number from 1 to 64 KiB"
template <class T>
std::string expectation(std::string what, Range<T> range, std::string_view unit) {
  const bool has_low = range.low != Range<T>{}.low;
  const bool has_high = range.high != Range<T>{}.high;
  if (has_low || (has_high && std::is_unsigned_v<T>))
    what += has_high ? " from " + bound_text(range.low) + " to " + bound_text(range.high)
                     : " of at least " + bound_text(range.low);
  else if (has_high) what += " of at most " + bound_text(range.high);
  return unit.empty() ? what : what + (has_low || has_high ? " " : " of ") + std::string(unit);
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Where `path` stands in `text` as a whole path.
std::size_t find_path(std::string_view text, std::string_view path) {
  for (std::size_t at = text.find(path); at != std::string_view::npos;
       at = text.find(path, at + 1)) {
    const std::size_t end = at + path.size();
    const bool starts = at == 0 || (!is_word_character(text[at - 1]) && text[at - 1] != '.');
    const bool goes_on =
        end < text.size() &&
        (is_word_character(text[end]) ||
         (text[end] == '.' && end + 1 < text.size() && is_word_character(text[end + 1])));
    if (starts && !goes_on) return at;
  }
  return std::string_view::npos;
}

/// The key of `table` or below that `message` names first.
void find_named(const Node& table, const std::string& path, std::string_view message,
                std::size_t& first, Place& place) {
  for (const Node::Entry& entry : *table.table()) {
    const std::string key_path = path + entry.key;
    if (entry.node.table()) {
      find_named(entry.node, key_path + ".", message, first, place);
    } else if (std::size_t at = find_path(message, key_path); at < first) {
      first = at;
      place = entry.node.place;
    }
  }
}

/// The deepest table that holds, or would hold, a key which `message` names: for rules about keys
/// that are not there.
void find_table_named(const Node& table, const std::string& path, std::string_view message,
                      Place& place) {
  for (const Node::Entry& entry : *table.table()) {
    const std::string inner = path + entry.key + ".";
    if (!entry.node.table() || message.find(inner) == std::string_view::npos) continue;
    place = entry.node.place;
    find_table_named(entry.node, inner, message, place);
  }
}

}  // namespace

Reader::Reader(const Tree& tree) : levels_{{&tree.root(), ""}} {}

const Node* Reader::visit_key(std::string_view name) {
  const Level& level = levels_.back();
  if (!known_[level.path].insert(std::string(name)).second)  // a plug-in's
    throw InputError("two fields of '" + level.path + "' are called '" + std::string(name) + "'");
  return level.node ? level.node->find(name) : nullptr;
}

void Reader::wrong(std::string_view name, const Node& found, const std::string& expected) {
  fail(name, "expected " + expected + ", found " + found.shown());
}

template <class T>
void Reader::whole_number(std::string_view name, T& value, Range<T> range, std::string_view unit) {
  const Node* node = visit_key(name);
  if (!node) return;
  const std::uint64_t* number = std::get_if<std::uint64_t>(&node->value);
  if (number && *number >= range.low && *number <= range.high) value = static_cast<T>(*number);
  else wrong(name, *node, expectation("a whole number", range, unit));
}

void Reader::field(std::string_view name, std::uint32_t& value, Range<std::uint32_t> range,
                   std::string_view unit, std::string_view) {
  whole_number(name, value, range, unit);
}

void Reader::field(std::string_view name, std::uint64_t& value, Range<std::uint64_t> range,
                   std::string_view unit, std::string_view) {
  whole_number(name, value, range, unit);
}

void Reader::field(std::string_view name, double& value, Range<double> range, std::string_view unit,
                   std::string_view) {
  const Node* node = visit_key(name);
  if (!node) return;
  std::optional<double> number;
  if (auto* real = std::get_if<double>(&node->value)) number = *real;
  if (auto* whole = std::get_if<std::uint64_t>(&node->value)) number = static_cast<double>(*whole);
  if (auto* negative = std::get_if<std::int64_t>(&node->value))
    number = static_cast<double>(*negative);
  if (number && *number >= range.low && *number <= range.high) value = *number;
  else wrong(name, *node, expectation("a number", range, unit));
}

void Reader::field(std::string_view name, bool& value, std::string_view) {
  const Node* node = visit_key(name);
  if (!node) return;
  if (auto* flag = std::get_if<bool>(&node->value)) value = *flag;
  else wrong(name, *node, "true or false");
}

void Reader::field(std::string_view name, std::string& value, std::string_view) {
  const Node* node = visit_key(name);
  if (!node) return;
  if (auto* text = std::get_if<std::string>(&node->value)) value = *text;
  else if (!node->word.empty()) value = node->word;
  else wrong(name, *node, "a text in quotes");
}

void Reader::choice_index(std::string_view name, std::uint32_t& position,
                          std::span<const std::string_view> names, std::string_view) {
  const Node* node = visit_key(name);
  if (!node) return;
  std::string text = node->word;  // "64" is written as 64 as well
  if (const auto* said = std::get_if<std::string>(&node->value)) text = *said;
  else if (const auto* number = std::get_if<std::uint64_t>(&node->value))
    text = std::to_string(*number);
  if (auto at = std::find(names.begin(), names.end(), text); at != names.end()) {
    position = static_cast<std::uint32_t>(at - names.begin());
    return;
  }
  std::string expected = "one of";
  for (std::string_view n : names) expected += " \"" + std::string(n) + "\"";
  wrong(name, *node, expected);
}

void Reader::enter(std::string_view name, std::string_view) {
  const Level& level = levels_.back();
  known_[level.path].insert(std::string(name));
  const Node* node = level.node ? level.node->find(name) : nullptr;
  if (node && !node->table()) {
    wrong(name, *node, "a table");
    node = nullptr;
  }
  std::string path = level.path + std::string(name) + ".";
  known_[path];  // a table without fields is known all the same
  levels_.push_back({node, std::move(path)});
}

void Reader::leave() {
  RADDLE_ASSERT(levels_.size() > 1);
  levels_.pop_back();
}

bool Reader::has(std::string_view name) const {
  return levels_.back().node && levels_.back().node->find(name);
}

void Reader::fail(std::string_view name, const std::string& message) {
  const Level& level = levels_.back();
  const Node* node = level.node ? level.node->find(name) : nullptr;
  const Place place = node ? node->place : level.node ? level.node->place : levels_[0].node->place;
  errors_.push_back({place, level.path + std::string(name) + ": " + message});
}

void Reader::fail(const std::string& message) {
  Place place{levels_[0].node->place.file};
  std::size_t first = std::string::npos;
  find_named(*levels_[0].node, "", message, first, place);
  if (first == std::string::npos) find_table_named(*levels_[0].node, "", message, place);
  errors_.push_back({std::move(place), message});
}

void Reader::ignore_rest() { ignored_.insert(levels_.back().path); }

std::string Reader::suggestion(std::string_view key, const std::string& path) const {
  std::vector<std::string> here;
  if (auto table = known_.find(path); table != known_.end())
    here.assign(table->second.begin(), table->second.end());
  if (std::string near = nearest(key, here); !near.empty()) return "; did you mean '" + near + "'?";
  std::string elsewhere;  // the right key in the wrong table
  for (const auto& [table, names] : known_) {
    if (!names.contains(std::string(key))) continue;
    if (!elsewhere.empty()) return "";
    elsewhere = table + std::string(key);
  }
  if (!elsewhere.empty()) return "; did you mean '" + elsewhere + "'?";
  std::string all;
  for (const std::string& name : here) all += " " + name;
  return here.empty() || here.size() > 12 ? "" : "; known:" + all;
}

void Reader::find_unknown(const Node& table, const std::string& path) {
  auto known = known_.find(path);
  for (const Node::Entry& entry : *table.table()) {
    const std::string inner = path + entry.key + ".";
    if (known == known_.end() || !known->second.contains(entry.key)) {
      if (!ignored_.contains(path))
        errors_.push_back(
            {entry.key_place, path + entry.key + ": unknown key" + suggestion(entry.key, path)});
    } else if (entry.node.table() && known_.contains(inner)) {
      find_unknown(entry.node, inner);
    }
  }
}

void Reader::finish() {
  RADDLE_ASSERT(levels_.size() == 1);
  find_unknown(*levels_[0].node, "");
  if (errors_.empty()) return;
  std::sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.place.line, a.place.column, a.message) <
           std::tie(b.place.file, b.place.line, b.place.column, b.message);
  });
  throw InputError(std::move(errors_));
}

}  // namespace raddle::config
