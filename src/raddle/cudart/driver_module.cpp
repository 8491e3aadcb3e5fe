// The driver interface's modules, libraries and functions.
#include <array>

#include "raddle/cudart/modules.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

Error attribute_of(Context& c, int* to, int number, const Kernel* kernel) {
  FunctionAttributes all{};
  if (const int code = raddle_cudaFuncGetAttributes_11(&all, kernel); code != kSuccess)
    return static_cast<Error>(code);
  const std::array<int, 10> values = {all.max_threads_per_block,
                                      static_cast<int>(all.shared_bytes),
                                      static_cast<int>(all.constant_bytes),
                                      static_cast<int>(all.local_bytes),
                                      all.registers,
                                      all.ptx_version,
                                      all.binary_version,
                                      all.cache_mode,
                                      all.max_dynamic_shared_bytes,
                                      all.preferred_carveout};
  constexpr int kAllowsLargeClusters = 14, kLast = 15;
  if (number < 0 || number > kLast) throw Failure{kInvalidValue};
  if (static_cast<std::size_t>(number) < values.size())
    required(to) = values[static_cast<std::size_t>(number)];
  else required(to) = number == kAllowsLargeClusters && c.kernel(kernel).large_clusters ? 1 : 0;
  return kSuccess;
}

}  // namespace

extern "C" {

int raddle_cuModuleLoadDataEx(Module** to, const void* data, unsigned count, const int* options,
                              void** values) {
  return driver("cuModuleLoadDataEx", kCurrentContext, [&](Context& c) {
    return load_data(c, to, data, jit_options(count, options, values));
  });
}
int raddle_cuModuleLoadData(Module** to, const void* data) {
  return driver("cuModuleLoadData", kCurrentContext,
                [&](Context& c) { return load_data(c, to, data, {}); });
}
int raddle_cuModuleLoad(Module** to, const char* file) {
  return driver("cuModuleLoad", kCurrentContext,
                [&](Context& c) { return load_file(c, to, file, {}); });
}
int raddle_cuModuleUnload(const Module* module) {
  return driver("cuModuleUnload", kCurrentContext, [&](Context& c) { return unload(c, module); });
}
int raddle_cuModuleGetFunction(Kernel** to, const Module* module, const char* name) {
  return driver("cuModuleGetFunction", kCurrentContext,
                [&](Context& c) { return get_kernel(c, to, module, name); });
}
int raddle_cuModuleGetFunctionCount(unsigned* count, const Module* module) {
  return driver("cuModuleGetFunctionCount", kCurrentContext,
                [&](Context& c) { return count_kernels(c, count, module); });
}
int raddle_cuModuleEnumerateFunctions(Kernel** to, unsigned count, const Module* module) {
  return driver("cuModuleEnumerateFunctions", kCurrentContext,
                [&](Context& c) { return list_kernels(c, to, count, module); });
}
int raddle_cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, const Module* module,
                                const char* name) {
  return driver("cuModuleGetGlobal", kCurrentContext,
                [&](Context& c) { return get_global(c, address, bytes, module, name); });
}
int raddle_cuModuleGetLoadingMode(int* mode) {
  return driver("cuModuleGetLoadingMode", kInitialized, [&](Context&) {
    required(mode) = 2;  // lazy
    return kSuccess;
  });
}

// --- libraries: modules that need no context ----------------------------------------------------

int raddle_cuLibraryLoadData(Module** to, const void* data, const int* options, void** values,
                             unsigned count, const int*, void**, unsigned) {
  return driver("cuLibraryLoadData", kInitialized, [&](Context& c) {
    return of_library(to, load_data(c, to, data, jit_options(count, options, values)));
  });
}
int raddle_cuLibraryLoadFromFile(Module** to, const char* file, const int* options, void** values,
                                 unsigned count, const int*, void**, unsigned) {
  return driver("cuLibraryLoadFromFile", kInitialized, [&](Context& c) {
    return of_library(to, load_file(c, to, file, jit_options(count, options, values)));
  });
}
int raddle_cuLibraryUnload(const Module* module) {
  return driver("cuLibraryUnload", kInitialized, [&](Context& c) { return unload(c, module); });
}
int raddle_cuLibraryGetKernel(Kernel** to, const Module* module, const char* name) {
  return driver("cuLibraryGetKernel", kInitialized,
                [&](Context& c) { return get_kernel(c, to, module, name); });
}
int raddle_cuLibraryGetKernelCount(unsigned* count, const Module* module) {
  return driver("cuLibraryGetKernelCount", kInitialized,
                [&](Context& c) { return count_kernels(c, count, module); });
}
int raddle_cuLibraryEnumerateKernels(Kernel** to, unsigned count, const Module* module) {
  return driver("cuLibraryEnumerateKernels", kInitialized,
                [&](Context& c) { return list_kernels(c, to, count, module); });
}
int raddle_cuLibraryGetModule(const Module** to, const Module* library) {
  return driver("cuLibraryGetModule", kCurrentContext, [&](Context& c) {
    required(to) = &usable_module(c, library);
    return kSuccess;
  });
}
int raddle_cuLibraryGetGlobal(Address* address, std::size_t* bytes, const Module* module,
                              const char* name) {
  return driver("cuLibraryGetGlobal", kCurrentContext,
                [&](Context& c) { return get_global(c, address, bytes, module, name); });
}

// --- functions ----------------------------------------------------------------------------------

int raddle_cuFuncGetAttribute(int* to, int number, const Kernel* kernel) {
  return driver("cuFuncGetAttribute", kCurrentContext,
                [&](Context& c) { return attribute_of(c, to, number, kernel); });
}
int raddle_cuKernelGetAttribute(int* to, int number, const Kernel* kernel, int device) {
  return driver("cuKernelGetAttribute", kInitialized, [&](Context& c) {
    if (device != 0) throw Failure{kInvalidDevice};
    return attribute_of(c, to, number, kernel);
  });
}
int raddle_cuKernelSetAttribute(int number, int value, const Kernel* kernel, int device) {
  return driver("cuKernelSetAttribute", kInitialized, [&](Context&) {
    if (device != 0) throw Failure{kInvalidDevice};
    return static_cast<Error>(raddle_cudaFuncSetAttribute(kernel, number, value));
  });
}
int raddle_cuKernelSetCacheConfig(const Kernel* kernel, int config, int device) {
  return driver("cuKernelSetCacheConfig", kInitialized, [&](Context&) {
    if (device != 0) throw Failure{kInvalidDevice};
    return static_cast<Error>(raddle_cudaFuncSetCacheConfig(kernel, config));
  });
}
int raddle_cuKernelGetFunction(Kernel** to, const Kernel* kernel) {
  return driver("cuKernelGetFunction", kCurrentContext, [&](Context& c) {
    required(to) = &c.kernel(kernel);
    return kSuccess;
  });
}
int raddle_cuKernelGetLibrary(const Module** to, const Kernel* kernel) {
  return driver("cuKernelGetLibrary", kInitialized, [&](Context& c) {
    required(to) = c.kernel(kernel).module;
    return kSuccess;
  });
}
int raddle_cuFuncGetModule(const Module** to, const Kernel* kernel) {
  return driver("cuFuncGetModule", kCurrentContext, [&](Context& c) {
    required(to) = c.kernel(kernel).module;
    return kSuccess;
  });
}
int raddle_cuFuncLoad(const Kernel* kernel) {
  return driver("cuFuncLoad", kCurrentContext, [&](Context& c) {
    c.loaded(c.kernel(kernel));
    return kSuccess;
  });
}
int raddle_cuFuncIsLoaded(int* state, const Kernel* kernel) {
  return driver("cuFuncIsLoaded", kCurrentContext, [&](Context& c) {
    required(state) = c.kernel(kernel).id.has_value() ? 1 : 0;
    return kSuccess;
  });
}

}  // extern "C"
