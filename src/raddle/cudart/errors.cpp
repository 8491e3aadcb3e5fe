// Errors that stay with the thread, and what they are called.
#include "raddle/cudart/errors.h"

#include <utility>

#include "raddle/cudart/context.h"

using namespace raddle::cudart;

extern "C" {

int raddle_cudaGetLastError() {
  const int sticky = context().sticky;
  const int last = std::exchange(thread_state().last_error, static_cast<int>(kSuccess));
  return sticky != kSuccess ? sticky : last;
}

int raddle_cudaPeekAtLastError() {
  const int sticky = context().sticky;
  return sticky != kSuccess ? sticky : thread_state().last_error;
}

const char* raddle_cudaGetErrorName(int code) { return error_name(code); }
const char* raddle_cudaGetErrorString(int code) { return error_text(code); }

int raddle_unsupported(const char* name) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  c.unsupported(name);
  return thread_state().last_error = kNotSupported;
}

void raddle_per_thread() { thread_state().per_thread = true; }

}  // extern "C"
