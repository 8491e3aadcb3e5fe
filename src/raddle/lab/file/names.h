// Whether the names in expressions and definitions stand for something.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "raddle/lab/file/section.h"

namespace raddle::lab {

/// After all definitions were read: names inside of them that stand for nothing.
void check_definitions(const Experiment& experiment, Problems& problems);

/// Adds a problem for every name in `formula` that is no measure, constant or axis (or, with `of`,
/// variant or workload), and for every domain and pin that is none.
void check_names(const Experiment& experiment, const Formula& formula, bool of, Problems& problems);

/// Does `text` of `key` name one of `kinds`? If not, that is a problem: "expected EXPECTED, found".
bool check_named(const Experiment& experiment, const PlacedText& text, const std::string& key,
                 const std::string& expected, std::initializer_list<NameKind> kinds,
                 Problems& problems);

/// "; did you mean 'gto'?", or "; known: gto lrr" of names of that kind.
std::string known_names(const Experiment& experiment, std::string_view wanted,
                        std::initializer_list<NameKind> kinds);

}  // namespace raddle::lab
