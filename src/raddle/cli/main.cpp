#include <signal.h>

#include <cstdio>

#include "raddle/cli/cli.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {
/// Sections of a recording are unpacked and dropped by the thousand. With glibc's own thresholds
/// each of them gave its pages back and took fresh ones, a third of a short co-run's time.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}
}  // namespace

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
  keep_freed_memory();
  // A file that has reached its limit (ulimit -f) is a write that failed, which is told as such.
  signal(SIGXFSZ, SIG_IGN);
  return raddle::cli::run(argc, argv);
}
