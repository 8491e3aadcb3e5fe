// The runtime's libraries: modules that a program loads by cudaLibraryLoad*.
#include "raddle/cudart/modules.h"

using namespace raddle;
using namespace raddle::cudart;

extern "C" {

int raddle_cudaLibraryLoadData(Module** to, const void* data, const int* options, void** values,
                               unsigned count, const int*, void**, unsigned) {
  return call("cudaLibraryLoadData", [&](Context& c) {
    return of_library(to, load_data(c, to, data, jit_options(count, options, values)));
  });
}
int raddle_cudaLibraryLoadFromFile(Module** to, const char* file, const int* options, void** values,
                                   unsigned count, const int*, void**, unsigned) {
  return call("cudaLibraryLoadFromFile", [&](Context& c) {
    return of_library(to, load_file(c, to, file, jit_options(count, options, values)));
  });
}
int raddle_cudaLibraryUnload(const Module* module) {
  return call("cudaLibraryUnload", [&](Context& c) { return unload(c, module); });
}
int raddle_cudaLibraryGetKernel(Kernel** to, const Module* module, const char* name) {
  return call("cudaLibraryGetKernel", [&](Context& c) { return get_kernel(c, to, module, name); });
}
int raddle_cudaLibraryGetKernelCount(unsigned* count, const Module* module) {
  return call("cudaLibraryGetKernelCount",
              [&](Context& c) { return count_kernels(c, count, module); });
}
int raddle_cudaLibraryEnumerateKernels(Kernel** to, unsigned count, const Module* module) {
  return call("cudaLibraryEnumerateKernels",
              [&](Context& c) { return list_kernels(c, to, count, module); });
}
int raddle_cudaLibraryGetGlobal(Address* address, std::size_t* bytes, const Module* module,
                                const char* name) {
  return call("cudaLibraryGetGlobal",
              [&](Context& c) { return get_global(c, address, bytes, module, name); });
}
int raddle_cudaKernelSetAttributeForDevice(const Kernel* kernel, int number, int value,
                                           int device) {
  return call("cudaKernelSetAttributeForDevice", [&](Context&) {
    if (device != 0) throw Failure{kInvalidDevice};
    return static_cast<Error>(raddle_cudaFuncSetAttribute(kernel, number, value));
  });
}

}  // extern "C"
