// From exceptions to error codes.
#include <exception>
#include <string>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cudart/context.h"

namespace raddle::cudart {

namespace {

/// What a fault of the simulated program is to CUDA. The words are exec's and timing's.
Error code_of(const std::string& message) {
  const auto says = [&](const char* word) { return message.find(word) != std::string::npos; };
  if (says("out-of-bounds")) return kIllegalAddress;
  if (says("misaligned")) return kMisalignedAddress;
  if (says("assert")) return kAssert;
  if (says("out of device memory")) return kMemoryAllocation;
  return kLaunchFailure;
}

int remember(int code) {
  if (code != kSuccess && code != kNotReady) thread_state().last_error = code;
  return code;
}

Error run(Context& c, const char* name, const std::function<Error(Context&)>& body) {
  try {
    return body(c);
  } catch (const Failure& failure) {
    if (!failure.message.empty()) c.note(name, failure.message);
    return failure.code;
  } catch (const InputError& error) {
    // The program asked for what the machine cannot do; a GPU would tell it so too.
    c.note(name, error.what());
    return kInvalidValue;
  } catch (const std::exception& error) {
    const std::string why = plain_words(error);
    const Error code = code_of(why);
    if (code == kMemoryAllocation) {
      c.note(name, why);
      return code;
    }
    c.fail(why);
    c.sticky = code;
    return code;
  }
}

}  // namespace

int call(const char* name, const std::function<Error(Context&)>& body) {
  RADDLE_ASSERT(name != nullptr && body != nullptr);
  Context& c = context();
  ThreadState& thread = thread_state();
  if (thread.driver_calls.empty()) c.comes(name);
  const std::lock_guard lock(c.mutex);
  if (c.ended) return remember(kCudartUnloading);
  if (c.sticky != kSuccess) return remember(c.sticky);
  if (c.forked()) return remember(kInitializationError);
  const HeldSignals held;
  if (thread.driver_calls.empty()) thread.used_runtime = true;
  else name = thread.driver_calls.back().name;
  const int code = run(c, name, body);
  c.watch.clear();
  thread.per_thread = false;
  return remember(code);
}

}  // namespace raddle::cudart
