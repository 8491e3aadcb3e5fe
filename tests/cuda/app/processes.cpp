// Programs of several processes: one of them may use the GPU.
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

int some_work() {
  auto* value = device<unsigned>(1);
  OK(cudaMemset(value, 0, 4));
  OK(bump(value, 1, 1));
  OK(cudaDeviceSynchronize());
  return 0;
}

int forks() {
  some_work();
  const pid_t child = fork();
  if (child == 0) {
    void* p = nullptr;
    _exit(cudaMalloc(&p, 4) == 3 ? 0 : 1);  // cudaErrorInitializationError
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? some_work() : 1;
}

int child_does_it() {
  const pid_t child = fork();
  if (child == 0) std::exit(some_work());
  int status = 1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/// What two processes do with the GPU is not one run.
int both() {
  const pid_t child = fork();
  if (child == 0) std::exit(some_work());
  int status = 1;
  waitpid(child, &status, 0);
  return some_work();
}
int replaced() {
  some_work();
  execl("/proc/self/exe", "cuda_app", "add", nullptr);
  return 1;
}
int child_exits_at_once() {
  const pid_t child = fork();
  if (child == 0) _exit(some_work());
  int status = 1;
  waitpid(child, &status, 0);
  return 0;
}
