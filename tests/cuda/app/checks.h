// What the scenarios of the test program check with, and its kernel for everything.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "cuda.h"

[[noreturn]] inline void wrong(const char* text, int line, int code) {
  std::printf("WRONG line %d: %s gave %d (%s)\n", line, text, code, cudaGetErrorName(code));
  std::fflush(stdout);
  std::exit(9);
}
#define OK(call) \
  if (const int code = (call); code != 0) wrong(#call, __LINE__, code)
#define GIVES(expected, call) \
  if (const int code = (call); code != (expected)) wrong(#call, __LINE__, code)
#define HOLDS(condition) \
  if (!(condition)) wrong(#condition, __LINE__, 0)

template <class T>
T* device(std::size_t count) {
  void* p = nullptr;
  OK(cudaMalloc(&p, count * sizeof(T)));
  return static_cast<T*>(p);
}

/// Launches a kernel that adds `value` to *at, after so many rounds of a loop.
int bump(unsigned* at, unsigned value, unsigned spins, Stream stream = nullptr,
         unsigned blocks = 1);

/// Launches a kernel that adds to the variable `counter`.
int count_up();

/// Launches bump() and waits for it.
int some_work();

// Scenarios in files of their own.
int forks();
int child_does_it();
int both();
int replaced();
int child_exits_at_once();
int prohibited_in_captures();
int captures_of_threads();
int nothing_given();
int external_events();
int fork_and_exit();
int outlived_by_child();
int closes_descriptors();
int opens_no_files();
int kernel_at_exit();
