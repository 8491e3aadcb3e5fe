// What programs do before main(): they tell what device code they hold, and under which host
// addresses they will name it. Nothing is loaded yet.
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cudart/context.h"

using namespace raddle;
using namespace raddle::cudart;

extern "C" {

void** raddle_cudaRegisterFatBinary(const void* wrapper) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  return reinterpret_cast<void**>(c.modules.make(wrapper));
}

void raddle_cudaRegisterFatBinaryEnd(void**) {}

// Modules stay: programs with several shared objects unregister in any order, and the device's
// memory is gone with the process anyway.
void raddle_cudaUnregisterFatBinary(void**) {}

void raddle_cudaRegisterFunction(void** handle, const void* stub, char*, const char* name, int,
                                 void*, void*, void*, void*, int*) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  if (!c.modules.has(handle)) return;
  c.kernels_by_stub[stub] = c.kernels.make(&c.modules.get(handle), std::string(name));
}

void raddle_cudaRegisterVar(void** handle, const void* host, char*, const char* name, int,
                            std::size_t bytes, int, int) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  if (!c.modules.has(handle)) return;
  Module& module = c.modules.get(handle);
  module.variables[host] = {.name = name, .bytes = bytes, .managed = nullptr};
  c.variable_owner[host] = &module;
}

void raddle_cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                                   std::size_t bytes, int, int) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  if (!c.modules.has(handle)) return;
  Module& module = c.modules.get(handle);
  module.variables[host_pointer] = {.name = name, .bytes = bytes, .managed = host_pointer};
  c.variable_owner[host_pointer] = &module;
}

void raddle_cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}

/// Before the program touches a managed variable; 1 = it may.
char raddle_cudaInitModule(void** handle) {
  return call("__cudaInitModule", [&](Context& c) {
           Module& module = c.modules.get(handle);
           for (const auto& [host, variable] : module.variables)
             if (variable.managed != nullptr) {
               c.load(module);
               return kSuccess;
             }
           return kSuccess;
         }) == kSuccess;
}

int raddle_cudaGetKernel(Kernel** kernel, const void* stub) {
  return call("__cudaGetKernel", [&](Context& c) {
    required(kernel) = &c.kernel(stub);
    return kSuccess;
  });
}

}  // extern "C"
