// Values of experiment files with the places where they were written.
#pragma once
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
