// What a refused call says, for tests of messages.
#pragma once
#include <string>

#include "raddle/base/error.h"

namespace raddle::test {

/// What the InputError of `f` says; "no error" when it throws none. Other exceptions pass through.
template <class F>
std::string input_error_of(F f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace raddle::test
