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

Section::Section(const Node& node, std::string path, Problems& problems)
    : node_(&node), path_(std::move(path)), problems_(&problems) {}

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

std::optional<std::string> Section::text(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  if (auto* text = std::get_if<std::string>(&node->value)) return *text;
  wrong(key, *node, "a text in quotes");
  return std::nullopt;
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
  if (!has(key)) {
    take(key);
    fail(key, "expected a text in quotes, found nothing: the key is missing");
    return "";
  }
  const std::string out = text(key, "-");
  if (out.empty()) fail(key, "expected a text, found an empty one");
  return out;
}

std::optional<double> Section::number(std::string_view key, Range<double> range) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto value = scalar(*node);
  if (value && value->is_number()) {
    const double number = value->get<double>();
    if (number >= range.low && number <= range.high) return number;
  }
  std::string expected = "a number";
  const bool low = range.low != Range<double>{}.low, high = range.high != Range<double>{}.high;
  if (low && high) expected += fmt::format(" from {} to {}", range.low, range.high);
  else if (low) expected += fmt::format(" of at least {}", range.low);
  else if (high) expected += fmt::format(" of at most {}", range.high);
  wrong(key, *node, expected);
  return std::nullopt;
}

std::optional<std::uint64_t> Section::whole(std::string_view key, Range<std::uint64_t> range) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  const auto* value = std::get_if<std::uint64_t>(&node->value);
  if (value != nullptr && *value >= range.low && *value <= range.high) return *value;
  wrong(key, *node,
        range.high == Range<std::uint64_t>{}.high
            ? fmt::format("a whole number of at least {}", range.low)
            : fmt::format("a whole number from {} to {}", range.low, range.high));
  return std::nullopt;
}

std::optional<std::size_t> Section::choice(std::string_view key,
                                           std::span<const std::string_view> names) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  if (auto* text = std::get_if<std::string>(&node->value))
    if (auto at = std::ranges::find(names, *text); at != names.end())
      return static_cast<std::size_t>(at - names.begin());
  std::string expected = "one of";
  for (const std::string_view name : names) expected += fmt::format(" \"{}\"", name);
  wrong(key, *node, expected);
  return std::nullopt;
}

std::vector<PlacedText> Section::texts(std::string_view key) {
  const Node* node = take(key);
  std::vector<PlacedText> out;
  if (node == nullptr) return out;
  std::vector<const Node*> items;
  if (node->list() != nullptr)
    for (const Node& item : *node->list()) items.push_back(&item);
  else items.push_back(node);
  for (const Node* item : items) {
    const auto* text = std::get_if<std::string>(&item->value);
    if (text == nullptr || text->empty())
      wrong(key, *item, node->list() != nullptr ? "a list of texts" : "a text or a list of texts");
    else if (std::ranges::find(out, *text, &PlacedText::text) != out.end())
      problems_->add(item->place, fmt::format("{}: \"{}\" is there twice", key_path(key), *text));
    else out.push_back({*text, item->place});
  }
  return out;
}

bool Section::flag(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr) return false;
  const auto* value = std::get_if<bool>(&node->value);
  if (value == nullptr) wrong(key, *node, "true or false");
  return value != nullptr && *value;
}

std::optional<Formula> Section::formula(std::string_view key, bool condition) {
  const Node* node = take(key);
  return node == nullptr ? std::nullopt : formula_of(*node, key_path(key), condition, *problems_);
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
  const Node* node = take(key);
  if (node == nullptr) return out;
  if (node->table() == nullptr) {
    wrong(key, *node, "a table");
    return out;
  }
  flatten(*node, "", *this, key, out);
  std::ranges::sort(
      out, {}, [](const Setting& s) { return std::tie(s.place.line, s.place.column, s.path); });
  return out;
}

std::optional<Section> Section::section(std::string_view key) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  if (node->table() != nullptr) return Section(*node, key_path(key), *problems_);
  wrong(key, *node, "a table");
  return std::nullopt;
}

std::vector<Section> Section::sections(std::string_view key) {
  std::vector<Section> out;
  const Node* node = take(key);
  if (node == nullptr) return out;
  if (node->list() == nullptr) {
    wrong(key, *node, "a list of tables");
    return out;
  }
  for (std::size_t i = 0; i < node->list()->size(); ++i) {
    const Node& item = (*node->list())[i];
    const std::string name = fmt::format("{}[{}]", key, i);
    if (item.table() != nullptr) out.emplace_back(item, key_path(name), *problems_);
    else wrong(name, item, "a table");
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
