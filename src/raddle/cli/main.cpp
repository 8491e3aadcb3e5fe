#include <cstdio>

#include "raddle/cli/cli.h"

int main(int argc, char** argv) {
#ifdef RADDLE_NEEDS_X86_64_V3
  // Before anything of the timing model can run into an instruction that the CPU lacks.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) {
    std::fputs(
        "raddle: this program was built for processors with AVX2 and BMI2 (x86-64-v3, 2013 and "
        "later), which this one lacks; build it with cmake -DRADDLE_ARCH=x86-64\n",
        stderr);
    return 2;
  }
#endif
  return raddle::cli::run(argc, argv);
}
