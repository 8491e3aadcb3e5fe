// What is common to all calls of the driver interface, and how programs find them.
#include <dlfcn.h>

#include <string_view>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"

namespace raddle::cudart {

namespace {

constexpr int kDriverVersion = 13000;

int refusal(Context& c, unsigned needs) {
  if (needs == kNothing) return kSuccess;
  if (!c.driver_initialized && !c.started()) return kNotInitialized;
  if ((needs & kCurrentContext) != 0 && current_context(c) == nullptr) return kInvalidContext;
  return kSuccess;
}

struct Symbol {
  std::string_view name;
  int since;
};
constexpr Symbol kSymbols[] = {
#define DRIVER(name, body, since) {#name, since},
#define DRIVER_PT(name, body, since) {#name, since},
#define DRIVER_ANY(name, body, since) {#name, since},
#define DRIVER_SAME(name, body, since) {#name, since},
#define DRIVER_SAME_PT(name, body, since) {#name, since},
#define DRIVER_LACK(name, since) {#name, since},
#include "raddle/cudart/driver.inc"
#include "raddle/cudart/driver_lack.inc"
};

bool own_stream(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds");
}

/// Without what names a version and the thread's own stream.
std::string_view base_of(std::string_view name) {
  if (own_stream(name)) name.remove_suffix(5);
  if (name.size() > 3 && name.substr(name.size() - 3, 2) == "_v") name.remove_suffix(3);
  return name;
}

/// This library, for its own symbols: other versions of a name may be loaded, too.
void* own_symbol(std::string_view name) {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&context), &own) == 0) return nullptr;
  void* const library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* const found = library != nullptr ? dlsym(library, std::string(name).c_str()) : nullptr;
  if (library != nullptr) dlclose(library);
  return found;
}

/// The newest of the name that the version has.
const Symbol* newest(std::string_view name, int version, bool per_thread, bool& known) {
  const Symbol* found = nullptr;
  for (const Symbol& symbol : kSymbols) {
    if (symbol.name != name && base_of(symbol.name) != name) continue;
    known = true;
    if (symbol.since > version) continue;
    if (symbol.name == name && base_of(name) != name) return &symbol;  // by its very name
    if (own_stream(symbol.name) != per_thread) continue;
    if (found == nullptr || symbol.since >= found->since) found = &symbol;
  }
  return found;
}

}  // namespace

void* driver_entry(const std::string& name, int version, bool per_thread, int& status) {
  bool known = false;
  const Symbol* found = per_thread ? newest(name, version, true, known) : nullptr;
  if (found == nullptr) found = newest(name, version, false, known);
  status = found != nullptr ? kEntryFound : known ? kEntryTooNew : kEntryNotFound;
  return found != nullptr ? own_symbol(found->name) : nullptr;
}

int driver(const char* name, Needs needs, const std::function<Error(Context&)>& body) {
  if (const int refused = raddle_driver_enter(name, needs); refused != kSuccess) return refused;
  return raddle_driver_leave(call(name, body));
}

}  // namespace raddle::cudart

using namespace raddle::cudart;

extern "C" {

/// Locks until raddle_driver_leave, unless it refuses.
int raddle_driver_enter(const char* name, unsigned needs) {
  RADDLE_ASSERT(name != nullptr);
  Context& c = context();
  ThreadState& thread = thread_state();
  if (thread.driver_calls.empty()) c.comes(name);
  c.mutex.lock();
  if (const int refused = refusal(c, needs); refused != kSuccess) {
    thread.per_thread = false;
    c.mutex.unlock();
    return refused;
  }
  thread.driver_calls.push_back({name, thread.last_error});
  if ((needs & kOwnStream) != 0) thread.per_thread = true;
  return kSuccess;
}

int raddle_driver_leave(int code) {
  ThreadState& thread = thread_state();
  RADDLE_ASSERT(!thread.driver_calls.empty());
  thread.last_error = thread.driver_calls.back().last_error;
  thread.driver_calls.pop_back();
  thread.per_thread = false;
  context().mutex.unlock();
  return driver_code(code);
}

int raddle_driver_lacks(const char* name) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  c.unsupported(name, kDriverNotSupported);
  return kNotSupported;
}

int raddle_cuInit(unsigned flags) {
  return driver("cuInit", kNothing, [&](Context& c) {
    if (flags != 0) throw Failure{kInvalidValue};
    c.session();
    c.driver_initialized = true;
    return kSuccess;
  });
}

int raddle_cuDriverGetVersion(int* version) {
  if (version == nullptr) return kInvalidValue;
  *version = kDriverVersion;
  return kSuccess;
}

int raddle_cuGetProcAddress_v2(const char* symbol, void** function, int version,
                               unsigned long long flags, int* result) {
  constexpr unsigned long long kPerThreadDefault = 2;
  if (symbol == nullptr || function == nullptr) return kInvalidValue;
  int status = kEntryNotFound;
  *function = driver_entry(symbol, version, (flags & kPerThreadDefault) != 0, status);
  if (result != nullptr) *result = status;
  return *function != nullptr ? kSuccess : kNotFound;
}

int raddle_cuGetProcAddress(const char* symbol, void** function, int version,
                            unsigned long long flags) {
  return raddle_cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

}  // extern "C"
