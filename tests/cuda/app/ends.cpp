// Programs that do to their process what the library in it does not expect.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "checks.h"

/// The child's exit handlers run as well, and flush what is in buffers.
int fork_and_exit() {
  some_work();
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? some_work() : 1;
}

/// Its child uses the GPU for the first time when `raddle exec` has ended.
int outlived_by_child() {
  const char* const folder = std::getenv("RADDLE_EXEC_FOLDER");
  HOLDS(folder != nullptr);
  if (fork() != 0) _exit(0);
  while (access(folder, F_OK) == 0) usleep(1000);
  void* memory = nullptr;
  GIVES(100, cudaMalloc(&memory, 4));  // no device
  std::fputs("the child has ended\n", stderr);
  std::exit(0);
}

/// As daemons do. Its own files, in $OWN_FILES, get the numbers.
int closes_descriptors() {
  some_work();
  for (int i = 3; i < 256; ++i) close(i);
  const char* const folder = std::getenv("OWN_FILES");
  HOLDS(folder != nullptr);
  for (int i = 0; i < 6; ++i)
    HOLDS(open((folder + ("/own" + std::to_string(i))).c_str(), O_CREAT | O_WRONLY, 0600) >= 0);
  return some_work();
}

/// Nothing of it can be written.
int opens_no_files() {
  some_work();
  const rlimit none{0, 0};
  return setrlimit(RLIMIT_NOFILE, &none);
}

/// Its handler comes after those of what the library has made since, and needs a kernel that has
/// not been decoded yet.
int kernel_at_exit() {
  std::atexit([] {
    std::vector<char> properties(4096);
    const bool done = cudaGetDeviceProperties(properties.data(), 0) == 0 && count_up() == 0 &&
                      cudaDeviceSynchronize() == 0;
    std::puts(done ? "counted at exit" : "not counted at exit");
  });
  std::vector<char> properties(4096);
  OK(cudaGetDeviceProperties(properties.data(), 0));
  return some_work();
}
