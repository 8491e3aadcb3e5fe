// Loads the file that it is given as a module (`file`), wrong PTX with a log (`log`), PTX with a
// function that nobody defines (`unresolved`); calls a kernel with one (`lost`), or what there is
// not (`lack`).
#include <cstring>
#include <string>

#include "driver.h"

// The program has one that nobody defines as well: that is no reason not to start.
extern "C" __device__ int nobody(int);
__global__ void lost(int* to) { to[0] = nobody(1); }
__global__ void found(int* to) { to[0] = 5; }

namespace {

/// Calls what is not defined (helper) and what the machine has (vprintf), and not what it declares.
const std::string kCallsHelper = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func (.param .b32 r) unused(.param .b32 a);
.extern .func (.param .b32 r) helper(.param .b32 a);
.visible .entry calls(.param .u64 to)
{
  .reg .pred %p;
  .reg .b64 %d;
  .reg .b32 %r;
  ld.param.u64 %d, [to];
  setp.eq.u64 %p, %d, 0;
  {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], 7;
    call.uni (b), helper, (a);
    ld.param.b32 %r, [b];
  }
  {
    .param .b64 a;
    .param .b64 c;
    .param .b32 b;
    st.param.b64 [a], %d;
    st.param.b64 [c], 0;
    @%p call.uni (b), vprintf, (a, c);
  }
  st.global.u32 [%d], %r;
  ret;
}
)";

struct Log {
  char text[400] = "";
  CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[2] = {text, reinterpret_cast<void*>(sizeof text)};
  bool names(const char* function) const {
    return std::string(text).find("Unresolved extern function '" + std::string(function) + "'") !=
           std::string::npos;
  }
};

int unresolved() {
  const std::string& text = kCallsHelper;
  Log of_module, of_library, of_link;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  GIVES(CUDA_ERROR_INVALID_PTX,
        cuModuleLoadDataEx(&module, text.c_str(), 2, of_module.options, of_module.values));
  HOLDS(module == nullptr && of_module.names("helper") && !of_module.names("unused"));
  std::printf("log: %s\n", of_module.text);
  GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, text.c_str()));
  GIVES(CUDA_ERROR_INVALID_PTX, cuLibraryLoadData(&library, text.c_str(), of_library.options,
                                                  of_library.values, 2, nullptr, nullptr, 0));
  HOLDS(of_library.names("helper"));
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  const auto add = [&](const std::string& ptx) {
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1,
                         "a.ptx", 0, nullptr, nullptr);
  };
  OK(cuLinkCreate(2, of_link.options, of_link.values, &state));
  OK(add(text));
  GIVES(CUDA_ERROR_INVALID_PTX, cuLinkComplete(state, &image, &bytes));
  HOLDS(of_link.names("helper"));
  // Now somebody defines it.
  OK(
      add(".version 7.0\n.target sm_70\n.address_size 64\n"
          ".visible .func (.param .b32 r) helper(.param .b32 a) {\n"
          "  .reg .b32 %r; ld.param.b32 %r, [a]; st.param.b32 [r], %r; ret;\n}\n"));
  OK(cuLinkComplete(state, &image, &bytes));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(state));
  CUfunction calls = nullptr;
  CUdeviceptr to = 0;
  OK(cuModuleGetFunction(&calls, module, "calls"));
  OK(cuMemAlloc(&to, 4));
  void* arguments[] = {&to};
  OK(cuLaunchKernel(calls, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int got = 0;
  OK(cuMemcpyDtoH(&got, to, 4));
  HOLDS(got == 7);
  found<<<1, 1>>>(reinterpret_cast<int*>(to));
  OK(cuMemcpyDtoH(&got, to, 4));
  HOLDS(got == 5);
  std::puts("PASS");
  return 0;
}

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
  if (what == "unresolved") return unresolved();
  if (what == "lost") {
    int* to = nullptr;
    HOLDS(cudaMalloc(&to, 4) == cudaSuccess);
    lost<<<1, 1>>>(to);
    HOLDS(cudaGetLastError() != cudaSuccess);
    return 0;
  }
  CUdeviceptr range = 0;
  GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemAddressReserve(&range, 1 << 21, 0, 0, 0));
}
