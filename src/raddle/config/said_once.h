// What one command line, or one call, says of settings: each at most once, since of two nobody
// could tell which counts. `a={b=1}` says `a.b`, too.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "raddle/config/tree.h"

namespace raddle::config {

class SaidOnce {
 public:
  /// `said` is how messages name it. Each of these throws InputError, at `said` or at `origin`,
  /// when what was added before says the same setting, all of it or a part, and names that.
  void add_path(std::string_view path, const std::string& said);
  /// PATH=VALUE, as for Tree::set_option.
  void add(std::string_view text, const std::string& said);
  /// PATH=VALUE, one of several in the option `origin`.
  void add_part(std::string_view text, const std::string& origin);
  /// LEVEL=NAME[:key=value,...], as for Tree::set_policy.
  void add_policy(std::string_view text, const std::string& said);

 private:
  void add_at(std::string_view path, const std::string& said, const std::string& origin);
  void add_values(const Node& node, const std::string& path, const std::string& said,
                  const std::string& origin);
  /// By path, which no other begins with; what said it.
  std::map<std::string, std::string, std::less<>> said_;
};

}  // namespace raddle::config
