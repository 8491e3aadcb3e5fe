// Modules that a program loads by itself, by the driver interface (cuModule*, cuLibrary*) or by the
// runtime (cudaLibrary*): the two have the same handles. All of these throw Failure.
#pragma once
#include <cstddef>

#include "raddle/cudart/driver.h"
#include "raddle/cudart/jit_log.h"

namespace raddle::cudart {

/// A module of the image, loaded at once. Throws InputError.
Module& load_module(Context& c, Image image);

Error load_data(Context& c, Module** to, const void* data, const JitOptions& log);
Error load_file(Context& c, Module** to, const char* name, const JitOptions& log);
/// What loading it has come to, when it is to be a library: that outlives its context.
Error of_library(Module** to, Error loaded);
Module& usable_module(Context& c, const Module* handle);
Error unload(Context& c, const Module* handle);

Error get_kernel(Context& c, Kernel** to, const Module* handle, const char* name);
Error count_kernels(Context& c, unsigned* count, const Module* handle);
/// The first `count` of them, in the order of its sources.
Error list_kernels(Context& c, Kernel** to, unsigned count, const Module* handle);
/// Where a variable is and how large; both may be null.
Error get_global(Context& c, Address* address, std::size_t* bytes, const Module* handle,
                 const char* name);

}  // namespace raddle::cudart
