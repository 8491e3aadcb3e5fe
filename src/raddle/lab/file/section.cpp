#include "raddle/lab/file/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "raddle/config/spelling.h"

namespace raddle::lab {

using config::Node;

void Problems::add(Place place, const std::string& message) {
  all_.push_back({std::move(place), message});
}

void Problems::finish() {
  if (all_.empty()) return;
  auto order = [](const Diagnostic& d) {
    return std::tie(d.place.file, d.place.line, d.place.column, d.message);
  };
  std::ranges::sort(all_, {}, order);
  const auto rest = std::ranges::unique(
      all_, [&](const Diagnostic& a, const Diagnostic& b) { return order(a) == order(b); });
  all_.erase(rest.begin(), rest.end());
  throw InputError(std::move(all_));
}

std::optional<Json> scalar(const Node& node) {
  if (auto* flag = std::get_if<bool>(&node.value)) return *flag;
  if (auto* whole = std::get_if<std::uint64_t>(&node.value)) return *whole;
  if (auto* negative = std::get_if<std::int64_t>(&node.value)) return *negative;
  if (auto* real = std::get_if<double>(&node.value)) return *real;
  if (auto* text = std::get_if<std::string>(&node.value)) return *text;
  return std::nullopt;
}

std::optional<double> number_of(const Node& node) {
  const auto value = scalar(node);
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<Formula> formula_of(const Node& node, const std::string& key, bool condition,
                                  Problems& problems) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) {
    const auto number = scalar(node);
    if (!condition && number && number->is_number())  // 1.5 is an expression too
      return Formula{parse_number(number->dump()), number->dump(), key, node.place};
    problems.add(node.place,
                 fmt::format("{}: expected {} in quotes, found {}", key,
                             condition ? "a condition" : "an expression", node.shown()));
    return std::nullopt;
  }
  try {
    return Formula{condition ? parse_condition(*text) : parse_number(*text), *text, key,
                   node.place};
  } catch (const ExpressionError& error) {
    problems.add(node.place, fmt::format("{}: {} of \"{}\"", key, error.what(), *text));
    return std::nullopt;
  }
}

namespace {

template <class T>
std::optional<T> as(const Node& node) {
  const T* value = std::get_if<T>(&node.value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

template <class T>
std::optional<T> within(Range<T> range, std::optional<T> value) {
  return value && *value >= range.low && *value <= range.high ? value : std::nullopt;
}

}  // namespace

Section::Section(const Node& node, std::string path, Problems& problems)
    : node_(&node), path_(std::move(path)), problems_(&problems) {
  RADDLE_ASSERT(node.table() != nullptr);
}

const Node* Section::take(std::string_view key) {
  known_.insert(std::string(key));
  return node_->find(key);
}

bool Section::has(std::string_view key) const { return node_->find(key) != nullptr; }

std::string Section::key_path(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Section::wrong(std::string_view key, const Node& found, const std::string& expected) {
  problems_->add(found.place,
                 fmt::format("{}: expected {}, found {}", key_path(key), expected, found.shown()));
}

void Section::fail(std::string_view key, const std::string& message) {
  const Node* node = node_->find(key);
  problems_->add(node != nullptr ? node->place : node_->place, key_path(key) + ": " + message);
}

void Section::check(std::initializer_list<Rule> rules) {
  for (const Rule& rule : rules)
    if (rule.broken) fail(rule.key, std::string(rule.message));
}

void Section::refuse(std::initializer_list<std::string_view> keys, const std::string& message) {
  for (const std::string_view key : keys)
    if (take(key) != nullptr) fail(key, message);
}

bool Section::needs(std::string_view key, const std::string& expected) {
  const bool is_there = take(key) != nullptr;
  if (!is_there) fail(key, "expected " + expected + ", found nothing: the key is missing");
  return is_there;
}

template <class Convert>
auto Section::value(std::string_view key, const std::string& expected, Convert convert) {
  const Node* node = take(key);
  decltype(convert(*node)) out;
  if (node == nullptr) return out;
  out = convert(*node);
  if (!out) wrong(key, *node, expected);
  return out;
}

std::optional<std::string> Section::text(std::string_view key) {
  return value(key, "a text in quotes", as<std::string>);
}

std::optional<PlacedText> Section::placed_text(std::string_view key) {
  auto text = this->text(key);
  if (!text) return std::nullopt;
  return PlacedText{std::move(*text), node_->find(key)->place};
}

std::string Section::text(std::string_view key, std::string_view otherwise) {
  return text(key).value_or(std::string(otherwise));
}

std::string Section::needed_text(std::string_view key) {
  if (!needs(key, "a text in quotes")) return "";
  const std::string out = text(key, "-");
  if (out.empty()) fail(key, "expected a text, found an empty one");
  return out;
}

std::optional<double> Section::number(std::string_view key, Range<double> range) {
  std::string expected = "a number";
  const bool low = range.low != Range<double>{}.low;
  const bool high = range.high != Range<double>{}.high;
  if (low && high) expected += fmt::format(" from {} to {}", range.low, range.high);
  else if (low) expected += fmt::format(" of at least {}", range.low);
  else if (high) expected += fmt::format(" of at most {}", range.high);
  return value(key, expected, [&](const Node& node) { return within(range, number_of(node)); });
}

std::optional<std::uint64_t> Section::whole(std::string_view key, Range<std::uint64_t> range) {
  const bool high = range.high != Range<std::uint64_t>{}.high;
  const std::string expected =
      high ? fmt::format("a whole number from {} to {}", range.low, range.high)
           : fmt::format("a whole number of at least {}", range.low);
  return value(key, expected,
               [&](const Node& node) { return within(range, as<std::uint64_t>(node)); });
}

std::optional<std::size_t> Section::choice(std::string_view key,
                                           std::span<const std::string_view> names) {
  std::string expected = "one of";
  for (const std::string_view name : names) expected += fmt::format(" \"{}\"", name);
  return value(key, expected, [&](const Node& node) -> std::optional<std::size_t> {
    const auto* text = std::get_if<std::string>(&node.value);
    const auto at = text == nullptr ? names.end() : std::ranges::find(names, *text);
    if (at == names.end()) return std::nullopt;
    return static_cast<std::size_t>(at - names.begin());
  });
}

std::vector<PlacedText> Section::texts(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr) return {};
  const bool is_list = node->list() != nullptr;
  std::vector<PlacedText> out;
  for (const Node& item : is_list ? std::span(*node->list()) : std::span(node, 1)) {
    const auto* text = std::get_if<std::string>(&item.value);
    if (text == nullptr || text->empty())
      wrong(key, item, is_list ? "a list of texts" : "a text or a list of texts");
    else if (std::ranges::find(out, *text, &PlacedText::text) != out.end())
      problems_->add(item.place, fmt::format("{}: \"{}\" is there twice", key_path(key), *text));
    else out.push_back({*text, item.place});
  }
  return out;
}

bool Section::flag(std::string_view key) {
  return value(key, "true or false", as<bool>).value_or(false);
}

std::optional<Formula> Section::formula(std::string_view key, bool condition) {
  const Node* node = take(key);
  return node == nullptr ? std::nullopt : formula_of(*node, key_path(key), condition, *problems_);
}

std::optional<Formula> Section::needed_formula(std::string_view key, bool condition) {
  return needs(key, condition ? "a condition" : "an expression") ? formula(key, condition)
                                                                 : std::nullopt;
}

namespace {

void flatten(const Node& table, const std::string& prefix, Section& owner, std::string_view key,
             Settings& out) {
  for (const Node::Entry& entry : *table.table()) {
    const std::string path = prefix.empty() ? entry.key : prefix + "." + entry.key;
    if (entry.node.table() != nullptr) flatten(entry.node, path, owner, key, out);
    else if (auto value = scalar(entry.node)) out.push_back({path, *value, entry.node.place});
    else owner.wrong(std::string(key) + "." + path, entry.node, "a number, a text, true or false");
  }
}

}  // namespace

Settings Section::settings(std::string_view key) {
  Settings out;
  if (!section(key)) return out;
  flatten(*node_->find(key), "", *this, key, out);
  std::ranges::sort(
      out, {}, [](const Setting& s) { return std::tie(s.place.line, s.place.column, s.path); });
  return out;
}

std::optional<Section> Section::section(std::string_view key) {
  return value(key, "a table", [&](const Node& node) {
    return node.table() == nullptr ? std::nullopt
                                   : std::optional(Section(node, key_path(key), *problems_));
  });
}

std::span<const Node> Section::items(std::string_view key, const std::string& expected) {
  const Node* node = take(key);
  if (node == nullptr) return {};
  if (node->list() != nullptr) return *node->list();
  wrong(key, *node, expected);
  return {};
}

Section Section::item(std::string_view key, std::size_t at, const Node& node) const {
  return Section(node, key_path(fmt::format("{}[{}]", key, at)), *problems_);
}

std::vector<Section> Section::sections(std::string_view key) {
  std::vector<Section> out;
  std::size_t at = 0;
  for (const Node& node : items(key, "a list of tables")) {
    if (node.table() != nullptr) out.push_back(item(key, at, node));
    else wrong(fmt::format("{}[{}]", key, at), node, "a table");
    ++at;
  }
  return out;
}

std::vector<const Node::Entry*> Section::entries() {
  std::vector<const Node::Entry*> out;
  for (const Node::Entry& entry : *node_->table()) {
    known_.insert(entry.key);
    out.push_back(&entry);
  }
  std::ranges::sort(out, {}, [](const Node::Entry* e) {
    return std::tie(e->key_place.line, e->key_place.column, e->key);
  });
  return out;
}

void Section::finish() {
  for (const Node::Entry& entry : *node_->table()) {
    if (known_.contains(entry.key)) continue;
    const std::vector<std::string> known(known_.begin(), known_.end());
    const std::string near = config::nearest(entry.key, known);
    std::string hint = near.empty() ? "; expected one of" : "; did you mean '" + near + "'?";
    if (near.empty())
      for (const std::string& name : known) hint += " " + name;
    problems_->add(entry.key_place, key_path(entry.key) + ": unknown key" + hint);
  }
}

}  // namespace raddle::lab
