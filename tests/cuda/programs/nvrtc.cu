// Compiles a kernel while it runs and launches it.
#include <nvrtc.h>

#include <vector>

#include "driver.h"

namespace {

constexpr const char* kSource = R"(
template <typename T> __global__ void saxpy(T a, const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)";

#define COMPILED(call) HOLDS((call) == NVRTC_SUCCESS)

}  // namespace

int main() {
  nvrtcProgram program;
  COMPILED(nvrtcCreateProgram(&program, kSource, "saxpy.cu", 0, nullptr, nullptr));
  COMPILED(nvrtcAddNameExpression(program, "saxpy<float>"));
  const char* options[] = {"--gpu-architecture=compute_80"};
  COMPILED(nvrtcCompileProgram(program, 1, options));
  const char* lowered = nullptr;
  COMPILED(nvrtcGetLoweredName(program, "saxpy<float>", &lowered));
  size_t bytes = 0;
  COMPILED(nvrtcGetPTXSize(program, &bytes));
  std::vector<char> ptx(bytes);
  COMPILED(nvrtcGetPTX(program, ptx.data()));

  OK(cuInit(0));
  CUcontext context = nullptr;
  OK(cuCtxCreate(&context, nullptr, 0, 0));
  CUmodule module = nullptr;
  CUfunction saxpy = nullptr;
  OK(cuModuleLoadData(&module, ptx.data()));
  OK(cuModuleGetFunction(&saxpy, module, lowered));
  COMPILED(nvrtcDestroyProgram(&program));
  int n = 1000;
  float a = 2;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = 1;
  CUdeviceptr at_x = 0, at_y = 0;
  OK(cuMemAlloc(&at_x, n * 4));
  OK(cuMemAlloc(&at_y, n * 4));
  OK(cuMemcpyHtoD(at_x, x.data(), n * 4));
  OK(cuMemcpyHtoD(at_y, y.data(), n * 4));
  void* arguments[] = {&a, &at_x, &at_y, &n};
  OK(cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuMemcpyDtoH(y.data(), at_y, n * 4));
  for (int i = 0; i < n; ++i) HOLDS(y[i] == 2 * x[i] + 1);
  std::puts("PASS");
}
