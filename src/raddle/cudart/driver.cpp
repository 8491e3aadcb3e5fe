// What a CUDA runtime that is not ours asks the driver for: tables of functions that NVIDIA keeps
// to itself (cuGetExportTable). cuBLAS and its like bring such a runtime, and machine code; nvcc
// links one into programs unless it is told -cudart shared. They are noted, with the function that
// the program called, so that the run can say what was not computed.
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "raddle/cudart/driver.h"
#include "raddle/cudart/library_support.h"

using namespace raddle::cudart;

namespace {

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

/// NVIDIA's compilers ask, too, and go on without: they compute nothing on the device.
bool is_compiler(const std::string& library) {
  constexpr std::array<const char*, 3> kCompilers = {"libnvrtc", "libnvJitLink", "libnvvm"};
  return std::ranges::any_of(kCompilers, [&](const char* c) { return library.starts_with(c); });
}

void unsupported_in_library(const char* function, const char* code) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  c.unsupported(function, code);
}

constexpr LibraryTable kOurLibraries = {.bytes = sizeof(LibraryTable),
                                        .unsupported = unsupported_in_library};

}  // namespace

extern "C" {

int raddle_cuGetExportTable(const void** table, const void* uuid) {
  if (table != nullptr && uuid != nullptr &&
      std::memcmp(uuid, kLibraryTable, sizeof kLibraryTable) == 0) {
    *table = &kOurLibraries;
    return kSuccess;
  }
  const Caller found = caller();
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  if (table != nullptr) *table = nullptr;
  if (is_compiler(found.library)) return kNoDevice;
  if (!found.library.empty()) c.driver_wanted(found.library, found.function);
  else
    c.fail(
        "the program has a CUDA runtime linked into it and calls it; rebuild it with nvcc "
        "-cudart shared");
  return kNoDevice;
}

}  // extern "C"
