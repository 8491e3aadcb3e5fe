#include "raddle/base/demangle.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace raddle {

namespace {

constexpr std::size_t kMaxMangled = 4096, kMaxDemangled = 4096;

/// Each may stand for everything before it, so a text of n of them can be 3^(n/3) times as long as
/// what is written.
constexpr unsigned kMaxReferences = 36;

unsigned references(std::string_view name) {
  unsigned out = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i + 1];
    const bool number = c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    if ((name[i] == 'S' || name[i] == 'T') && number) ++out;
  }
  return out;
}

/// Where the parameters begin: the '(' that the last ')' closes.
std::size_t parameters_of(std::string_view name) {
  if (name.empty() || name.back() != ')') return name.size();
  std::size_t depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

}  // namespace

std::string demangled(std::string_view name) {
  const std::string written(name);
  if (!name.starts_with("_Z") || name.size() > kMaxMangled || references(name) > kMaxReferences)
    return written;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(written.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return written;
  std::string_view out = text.get();
  if (out.size() > kMaxDemangled) return written;
  if (out.starts_with("void ")) out.remove_prefix(5);
  return std::string(out);
}

std::string short_name(std::string_view name) {
  std::string out = demangled(name);
  if (const std::size_t at = parameters_of(out); at != 0) out.resize(at);
  return out;
}

}  // namespace raddle
