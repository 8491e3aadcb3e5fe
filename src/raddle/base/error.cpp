#include "raddle/base/error.h"

#include <cstdio>
#include <cstdlib>

#include "raddle/base/shortened.h"

namespace raddle {

std::string Diagnostic::text() const {
  std::string out = place.file;
  if (place.line != 0) out += (out.empty() ? "line " : ":") + std::to_string(place.line);
  if (place.column != 0) out += ":" + std::to_string(place.column);
  if (!out.empty()) out += ": ";
  return out + message;
}

namespace {
std::string joined(const std::vector<Diagnostic>& all) {
  std::string out;
  for (const Diagnostic& d : all) out += (out.empty() ? "" : "\n") + d.text();
  return out;
}
}  // namespace

namespace {
std::vector<Diagnostic> shortened(std::vector<Diagnostic> all) {
  for (Diagnostic& one : all) {
    one.message = raddle::shortened(one.message);
    one.place.file = raddle::shortened(one.place.file);  // an option with its value, maybe
  }
  return all;
}
}  // namespace

InputError::InputError(std::vector<Diagnostic> all)
    : std::runtime_error(joined(shortened(all))), all_(shortened(std::move(all))) {}

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "raddle: internal error: %s:%d: %s does not hold\n", file, line, expression);
  std::abort();
}

}  // namespace raddle
