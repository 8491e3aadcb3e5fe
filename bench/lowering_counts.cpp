// What the kernels of the workloads become on each generation: instructions and registers of the
// text, not of a run. One line a kernel, for scripts/measure_lowering.py and docs/lowering.md.
#include <cstdio>

#include "raddle/exec/decode/program.h"
#include "raddle/lowering/lowering.h"
#include "raddle/runtime/workload.h"

using namespace raddle;

int main() {
  std::printf("kernel,ptx,ptx_registers");
  for (const auto name : lowering::kGenerationNames)
    std::printf(",%.*s,%.*s_registers", static_cast<int>(name.size()), name.data(),
                static_cast<int>(name.size()), name.data());
  std::puts("");
  for (const std::string& workload : runtime::all_workloads().names()) {
    exec::DeviceMemory memory;
    exec::Program program(
        ptx::parse(std::string(runtime::embedded_ptx(workload)), workload + "/kernels.ptx"),
        memory);
    for (const std::string& kernel : program.kernel_names()) {
      const trace::KernelCode& code = *exec::code_of(program.kernel(kernel));
      std::size_t size = 0;  // aliases of generic accesses stand at the end
      while (size < code.instructions.size() &&
             code.instructions[size].alias_of == trace::kNoRegister)
        ++size;
      std::printf("%s,%zu,%u", kernel.c_str(), size, code.registers_per_thread);
      for (unsigned g = 0; g < lowering::kGenerations; ++g) {
        const trace::LoweredCode made =
            lowering::lower(code, {lowering::Level::Machine, static_cast<lowering::Generation>(g)});
        std::printf(",%u,%u", made.first[size], made.code.registers_per_thread);
      }
      std::puts("");
    }
  }
}
