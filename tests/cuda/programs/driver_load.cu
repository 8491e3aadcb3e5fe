// Loads the file that it is given as a module (`file`), or wrong PTX with a log (`log`), or calls
// what there is not (`lack`).
#include <cstring>
#include <string>

#include "driver.h"

namespace {

int run_file(const char* name) {
  CUmodule module = nullptr;
  if (const CUresult code = cuModuleLoad(&module, name); code != CUDA_SUCCESS) {
    const char* text = nullptr;
    OK(cuGetErrorName(code, &text));
    std::puts(text);
    return 0;
  }
  CUfunction twice = nullptr;
  CUdeviceptr data = 0;
  OK(cuModuleGetFunction(&twice, module, "twice"));
  OK(cuMemAlloc(&data, 4 * 64));
  OK(cuMemsetD32(data, 21, 64));
  void* arguments[] = {&data};
  OK(cuLaunchKernel(twice, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  unsigned got = 0;
  OK(cuMemcpyDtoH(&got, data + 4 * 63, 4));
  HOLDS(got == 42);
  std::puts("PASS");
  return 0;
}

int wrong_ptx() {
  const std::string text =
      std::string(kAffine).replace(std::string(kAffine).find("ret;"), 4, "rett!");
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, text.c_str(), 2, options, values));
  const auto length = reinterpret_cast<std::size_t>(values[1]);
  HOLDS(length == std::strlen(log) + 1);
  std::printf("log: %s\n", log);
  CUlinkState state = nullptr;
  log[0] = '\0', values[1] = reinterpret_cast<void*>(std::size_t{10});
  OK(cuLinkCreate(2, options, values, &state));
  GIVES(CUDA_ERROR_INVALID_PTX,
        cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1,
                      "wrong.ptx", 0, nullptr, nullptr));
  HOLDS(std::string(log) == "wrong.ptx");  // as much as fits
  OK(cuLinkDestroy(state));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  OK(cuInit(0));
  CUcontext context = nullptr;
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  if (what == "file") return run_file(words[2]);
  if (what == "log") return wrong_ptx();
  CUdeviceptr range = 0;
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemAddressReserve(&range, 1 << 21, 0, 0, 0));
}
