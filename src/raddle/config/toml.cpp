// TOML text into a Tree, by the library toml++ (TOML 1.0), whose places are kept.
#include <sstream>
#define TOML_HEADER_ONLY 1
// The library asserts what it then checks and reports, e.g. that no '}' stands where a key should.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include "raddle/config/tree.h"

namespace raddle::config {

namespace {

class Converter {
 public:
  explicit Converter(const std::string& name) : name_(name) {}

  Place place(const toml::source_region& region) const {
    return {name_, region.begin.line, region.begin.column};
  }

  Node table(const toml::table& from) const {
    Node::Table entries;
    for (const auto& [key, value] : from)
      entries.push_back({std::string(key.str()), place(key.source()), node(value)});
    return {std::move(entries), place(from.source())};
  }

 private:
  Node node(const toml::node& from) const {
    if (const toml::table* inner = from.as_table()) return table(*inner);
    Node to{Node::Other{"a date or time"}, place(from.source())};
    if (const toml::array* items = from.as_array()) {
      Node::List list;
      for (const toml::node& item : *items) list.items.push_back(node(item));
      to.value = std::move(list);
    }
    if (auto* flag = from.as_boolean()) to.value = flag->get();
    if (auto* number = from.as_floating_point()) to.value = number->get();
    if (auto* text = from.as_string()) to.value = text->get();
    if (auto* whole = from.as_integer()) {
      if (whole->get() < 0) to.value = whole->get();
      else to.value = static_cast<std::uint64_t>(whole->get());
    }
    return to;
  }
  const std::string& name_;
};

}  // namespace

Tree Tree::from_toml(std::string_view text, const std::string& name) {
  const Converter converter(name);
  try {
    Tree tree(converter.table(toml::parse(text)));
    if (tree.root_.table()->empty()) throw InputError({name}, "is empty; expected a configuration");
    return tree;
  } catch (const toml::parse_error& error) {
    throw InputError(converter.place(error.source()), std::string(error.description()));
  }
}

}  // namespace raddle::config
