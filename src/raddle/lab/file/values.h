// Values of experiment files with the places where they were written.
#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/lab/file/expression.h"

namespace raddle::lab {

using Json = nlohmann::ordered_json;

/// One value of a table such as `set` or `parameters`, in order of writing.
struct Setting {
  std::string path;
  Json value;  ///< a number, a text, true or false
  Place place;
};
using Settings = std::vector<Setting>;

/// What `more` says takes the place of what was said of the same settings: a factor is one of the
/// machine's value. What it says twice it says twice.
inline void lay_over(Settings& to, const Settings& more) {
  std::erase_if(to, [&](const Setting& before) {
    return std::ranges::find(more, before.path, &Setting::path) != more.end();
  });
  to.insert(to.end(), more.begin(), more.end());
}

struct PlacedText {
  std::string text;
  Place place;
};

/// An expression of a file. `key` says in errors which.
struct Formula {
  Expression expression;
  std::string text, key;
  Place place;
};

}  // namespace raddle::lab
