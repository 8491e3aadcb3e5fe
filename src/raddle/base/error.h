// The two ways a run can end badly, and the words in which it is told.
//   InputError  the user's input is wrong (file, option, PTX, configuration): exit status 2,
//               nothing written
//   RunError    the simulated program or its result is wrong, or it does not come to an end: exit
//               status 1
// A fault of Raddle itself is RADDLE_ASSERT: it aborts with the expression and its place.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace raddle {

/// Where in the user's input. line and column count from 1; 0 = does not apply.
struct Place {
  std::string file;
  unsigned line = 0, column = 0;
};

struct Diagnostic {
  Place place;
  std::string message;
  /// "file:line:column: message", leaving out what does not apply.
  std::string text() const;
};

class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : InputError(Diagnostic{{}, message}) {}
  InputError(Place place, const std::string& message)
      : InputError(Diagnostic{std::move(place), message}) {}
  explicit InputError(Diagnostic one) : InputError(std::vector<Diagnostic>{std::move(one)}) {}
  /// Several at once, one line each. Precondition: not empty.
  explicit InputError(std::vector<Diagnostic> all);
  const std::vector<Diagnostic>& diagnostics() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
};

class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace raddle

/// On in every build but the benchmark's (RADDLE_NO_ASSERT).
#ifdef RADDLE_NO_ASSERT
#define RADDLE_ASSERT(expression) ((void)0)
#else
#define RADDLE_ASSERT(expression) \
  ((expression) ? (void)0 : ::raddle::assertion_failed(#expression, __FILE__, __LINE__))
#endif
