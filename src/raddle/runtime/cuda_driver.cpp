#include "raddle/runtime/cuda_driver.h"

#include <dlfcn.h>

#include "raddle/base/error.h"

namespace raddle::runtime::cuda {

Driver::Driver(const std::string& library)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    const char* why = dlerror();
    throw InputError("--on cuda needs an NVIDIA GPU with its driver, whose " + library +
                     " cannot be loaded: " + (why != nullptr ? why : "no reason given"));
  }
  auto find = [&](const char* name) {
    void* function = dlsym(library_, name);
    if (function == nullptr) {
      dlclose(library_);
      throw InputError(library + " has no function " + name +
                       ": the driver is too old (CUDA 11 or newer is needed)");
    }
    return function;
  };
#define RADDLE_CUDA_FIND(member, name, parameters) \
  member = reinterpret_cast<Result(*) parameters>(find(name));
  RADDLE_CUDA_FUNCTIONS(RADDLE_CUDA_FIND)
#undef RADDLE_CUDA_FIND
#define RADDLE_CUDA_FIND(member, name, parameters) \
  member = reinterpret_cast<Result(*) parameters>(dlsym(library_, name));
  RADDLE_CUDA_12_FUNCTIONS(RADDLE_CUDA_FIND)
#undef RADDLE_CUDA_FIND
}

// The library stays: drivers do not like to be unloaded while their threads run.
Driver::~Driver() = default;

void Driver::check(Result result, const char* function) const {
  if (result == 0) return;
  const char *name = nullptr, *text = nullptr;
  error_name(result, &name);
  error_text(result, &text);
  throw RunError(std::string(function) + ": " + (name != nullptr ? name : "error") + " (" +
                 std::to_string(result) + ")" + (text != nullptr ? std::string(": ") + text : ""));
}

}  // namespace raddle::runtime::cuda
