// JSON text into a Tree, keeping the line of each key (nlohmann's parser tells none, so the
// characters it takes are counted). A result holds its resolved configuration as member "config",
// which is then the document.
#include <iterator>
#include <nlohmann/json.hpp>

#include "raddle/base/json.h"
#include "raddle/config/tree.h"

namespace raddle::config {

namespace {

constexpr std::size_t kMaxDepth = 64;

/// Line of the last character that is no white space: the parser reads at most one character past a
/// token.
struct LineCount {
  unsigned line = 1, token_line = 1;
  void take(char c) {
    if (c == '\n') ++line;
    else if (c != ' ' && c != '\t' && c != '\r') token_line = line;
  }
};

/// Reads characters and tells the counter.
class Characters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  Characters(const char* at, LineCount* count) : at_(at), count_(count) {}
  reference operator*() const { return *at_; }
  Characters& operator++() {
    count_->take(*at_++);
    return *this;
  }
  Characters operator++(int) {
    Characters before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Characters& a, const Characters& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  LineCount* count_;
};

class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& name, const LineCount& count) : name_(name), count_(count) {}
  Node take() { return std::move(root_); }

  bool null() override { return put(Node::Other{"null"}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return put(Node::Other{"binary data"}); }
  bool start_object(std::size_t) override {
    if (skipping_ != 0) return nest();
    put(Node::Table{});
    if (open_.size() == kMaxDepth)
      throw InputError(here(), "tables are nested deeper than " + std::to_string(kMaxDepth));
    open_.push_back(last_);
    return true;
  }
  bool end_object() override {
    if (skipping_ != 0) --skipping_;
    else open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    if (skipping_ == 0) put(Node::Other{"a list"});
    return nest();
  }
  bool end_array() override {
    --skipping_;
    return true;
  }
  bool key(string_t& key) override {
    if (skipping_ != 0) return true;
    if (open_.back()->find(key)) throw InputError(here(), "key '" + key + "' is given twice");
    key_ = std::move(key);
    key_place_ = here();
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    throw InputError(here(), not_json(error));
  }

 private:
  Place here() const { return {name_, count_.token_line}; }
  bool nest() {
    ++skipping_;
    return true;
  }
  /// Pointers in open_ stay good: a table grows only while it is the innermost one.
  template <class T>
  bool put(T value) {
    if (skipping_ != 0) return true;
    Node node{std::move(value), here()};
    if (open_.empty()) {
      root_ = std::move(node);
      last_ = &root_;
    } else {
      open_.back()->table()->push_back({std::move(key_), key_place_, std::move(node)});
      last_ = &open_.back()->table()->back().node;
    }
    return true;
  }

  const std::string& name_;
  const LineCount& count_;
  Node root_{Node::Table{}, {}};
  std::vector<Node*> open_;
  Node* last_ = nullptr;
  std::string key_;
  Place key_place_;
  std::size_t skipping_ = 0;  ///< depth inside a list
};

}  // namespace

Tree Tree::from_json(std::string_view text, const std::string& name) {
  LineCount count;
  Builder builder(name, count);
  nlohmann::json::sax_parse(Characters(text.data(), &count),
                            Characters(text.data() + text.size(), &count), &builder);
  Node root = builder.take();
  if (const Node* inner = root.find("config"); inner && root.find("schema")) {
    Node config = *inner;
    root = std::move(config);
  }
  if (root.find("schema") != nullptr && root.find("runs") != nullptr)
    throw InputError({name},
                     "holds several results (compare); expected one, such as of run --json");
  if (!root.table())
    throw InputError(root.place.file.empty() ? Place{name} : root.place,
                     "expected a table of keys, found " + root.shown());
  if (root.table()->empty()) throw InputError({name}, "is empty; expected a configuration");
  return Tree(std::move(root));
}

}  // namespace raddle::config
