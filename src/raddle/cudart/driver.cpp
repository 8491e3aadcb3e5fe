// What libraries of machine code find in place of CUDA's driver (libcuda.so.1, a link to this
// library in the folder of `raddle exec`): cuBLAS and its like come with a runtime of their own
// that opens it by name. There is no driver here; who asks for it is noted, with the function that
// the program called, so that the run can say what was not computed.
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>

#include "raddle/cudart/context.h"

using namespace raddle::cudart;

namespace {

constexpr int kDriverNoDevice = 100, kDriverNotFound = 500;  // CUresult

struct Caller {
  std::string library, function;
};

/// The function of another shared library through which the program came here; the program's own
/// asking is none.
Caller caller() {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  Dl_info own{}, info{};
  if (dladdr(reinterpret_cast<void*>(&context), &own) == 0) return {};
  Caller out;
  std::string file;
  for (int i = 0; i < count; ++i) {
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) continue;
    if (info.dli_fbase == own.dli_fbase) continue;
    if (file.empty()) file = info.dli_fname;
    // The outermost stays. Between may be others, such as libc's pthread_once.
    if (file == info.dli_fname && info.dli_sname != nullptr) out.function = info.dli_sname;
  }
  const std::string name = std::filesystem::path(file).filename().string();
  if (name.find(".so") == std::string::npos) return {};
  out.library = name;
  return out;
}

int note_caller(int code) {
  const Caller found = caller();
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  if (!found.library.empty()) c.driver_wanted(found.library, found.function);
  return code;
}

}  // namespace

extern "C" {

int raddle_cuInit(unsigned) { return note_caller(kDriverNoDevice); }

int raddle_cuDriverGetVersion(int* version) {
  if (version != nullptr) *version = 13000;
  note_caller(0);
  return 0;
}

int raddle_cuGetProcAddress(const char* name, void** function, int, unsigned long long, void*) {
  const bool known = name != nullptr && function != nullptr;
  if (function != nullptr) *function = nullptr;
  if (known && std::strcmp(name, "cuInit") == 0)
    *function = reinterpret_cast<void*>(&raddle_cuInit);
  if (known && std::strcmp(name, "cuDriverGetVersion") == 0)
    *function = reinterpret_cast<void*>(&raddle_cuDriverGetVersion);
  note_caller(0);
  return known && *function != nullptr ? 0 : kDriverNotFound;
}

}  // extern "C"
