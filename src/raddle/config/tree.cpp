#include "raddle/config/tree.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/config/said_once.h"

namespace raddle::config {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxShown = 60;

/// Told apart from a whole number: 64.0, not 64.
std::string shown_number(double value) {
  char text[32];
  std::string out(text, std::to_chars(text, text + sizeof text, value).ptr);
  return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
}

struct Shown {
  std::string operator()(const Node::Table&) const { return "a table"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return shown_number(value); }
  std::string operator()(const std::string& text) const {
    return "\"" + (text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "...") + "\"";
  }
  std::string operator()(const Node::List&) const { return "a list"; }
  std::string operator()(const Node::Other& other) const { return other.what; }
};

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// Takes the first key off a dotted path.
std::string_view next_key(std::string_view& path) {
  std::size_t dot = std::min(path.find('.'), path.size());
  std::string_view key = path.substr(0, dot);
  path.remove_prefix(std::min(dot + 1, path.size()));
  return key;
}

void check_path(std::string_view path, const std::string& origin) {
  bool key_is_empty = true;
  for (char c : path) {
    if (c != '.' && !is_key_character(c)) {
      key_is_empty = true;
      break;
    }
    if (c == '.' && key_is_empty) break;
    key_is_empty = c == '.';
  }
  if (key_is_empty)
    throw InputError({origin}, "expected keys joined by dots such as sm.l1d.size_kib, found '" +
                                   std::string(path) + "'");
}

void erase_key(Node& table, std::string_view key) {
  if (Node::Table* entries = table.table())
    std::erase_if(*entries, [key](const Node::Entry& entry) { return entry.key == key; });
}

void merge_nodes(Node& into, const Node& over) {
  if (!into.table() || !over.table()) {
    into = over;
    return;
  }
  for (const Node::Entry& entry : *over.table()) {
    if (Node* old = into.find(entry.key)) merge_nodes(*old, entry.node);
    else into.table()->push_back(entry);
  }
}

/// A document of one value at `path`.
Node wrapped(std::string_view path, Node value) {
  const Place place = value.place;
  std::string_view rest = path;
  std::string key(next_key(rest));
  Node inner = rest.empty() ? std::move(value) : wrapped(rest, std::move(value));
  Node outer{Node::Table{}, place};
  outer.table()->push_back({std::move(key), place, std::move(inner)});
  return outer;
}

void set_places(Node& node, const Place& place) {
  node.place = place;
  if (Node::Table* entries = node.table())
    for (Node::Entry& entry : *entries) {
      entry.key_place = place;
      set_places(entry.node, place);
    }
}

/// The value of `text` as TOML; text that is no TOML value, be it empty, stands for itself.
Node parse_value(std::string_view text, const std::string& origin) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    throw InputError({origin}, "expected a value on one line, found a control character");
  std::uint64_t whole = 0;  // TOML's own numbers end at 2^63
  const char* end = text.data() + text.size();
  Node node{std::string(text), {}};
  if (auto parsed = std::from_chars(text.data(), end, whole);
      parsed.ec == std::errc{} && parsed.ptr == end) {
    node.value = whole;
  } else if (!text.empty()) {
    try {
      Tree one = Tree::from_toml("value = " + std::string(text), origin);
      node = *one.find("value");
    } catch (const InputError&) {
      if (std::string_view("\"'[{").find(text[0]) != std::string_view::npos)
        throw InputError({origin}, "expected a TOML value, found '" + std::string(text) + "'");
    }
  }
  set_places(node, {origin});
  return node;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  if (const Table* entries = table())
    for (const Entry& entry : *entries)
      if (entry.key == key) return &entry.node;
  return nullptr;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

std::string Node::shown() const { return std::visit(Shown{}, value); }

Tree Tree::from_file(const std::string& path) {
  const std::string text = read_text(path, kMaxFileBytes, "a configuration");
  if (std::size_t zero = text.find('\0'); zero != std::string::npos)
    throw InputError({path}, "is not a text file (byte 0 at offset " + std::to_string(zero) + ")");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{' ? from_json(text, path)
                                                          : from_toml(text, path);
}

void Tree::set(std::string_view path, std::string_view value, const std::string& origin) {
  check_path(path, origin);
  Node node = parse_value(value, origin);
  if (!node.table()) node.word = value;
  merge_nodes(root_, wrapped(path, std::move(node)));
}

void Tree::set_option(std::string_view text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw InputError({origin}, "expected path=value, found '" + std::string(text) + "'");
  set(text.substr(0, equals), text.substr(equals + 1), origin);
}

void Tree::set_policy(std::string_view text, const std::string& origin) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':');
  const std::string_view level = text.substr(0, equals);
  if (equals == std::string_view::npos || colon < equals || level.empty() ||
      !std::all_of(level.begin(), level.end(), is_key_character))
    throw InputError({origin}, "expected LEVEL=NAME[:key=value,...] such as warp=gto, found '" +
                                   std::string(text) + "'");
  const std::string_view name = text.substr(equals + 1, colon - equals - 1);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_key_character))
    throw InputError({origin},
                     "expected the name of a policy after '=', found '" + std::string(name) + "'");
  const std::string table = "policy." + std::string(level);
  erase(table);
  set(table + ".name", "\"" + std::string(name) + "\"", origin);
  if (colon == std::string_view::npos) return;
  std::string_view rest = text.substr(colon + 1);
  SaidOnce parameters;
  parameters.add_path("name", "'" + std::string(text.substr(0, colon)) + "'");
  do {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string parameter(rest.substr(0, comma));
    set_option(table + "." + parameter, origin);
    parameters.add_part(parameter, origin);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  } while (!rest.empty());
}

void Tree::merge(const Tree& over) { merge_nodes(root_, over.root_); }

void Tree::erase(std::string_view path) {
  Node* at = &root_;
  for (std::string_view key = next_key(path); at; key = next_key(path)) {
    if (path.empty()) return erase_key(*at, key);
    at = at->find(key);
  }
}

const Node* Tree::find(std::string_view path) const {
  const Node* at = &root_;
  while (at && !path.empty()) at = at->find(next_key(path));
  return at;
}

}  // namespace raddle::config
