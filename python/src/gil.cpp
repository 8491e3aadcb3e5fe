#include "gil.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "raddle/base/error.h"

namespace raddle::python {

namespace {

using namespace std::chrono_literals;
/// A simulation looks around ten times a second; what does not is not waited for.
constexpr auto kLongestWait = 10s;

/// How often threads are in C++ without the lock, and from there in Python.
std::atomic<int> in_cpp{0}, in_python{0};
thread_local int own_in_cpp = 0, own_in_python = 0;
std::atomic<bool> ending{false};
std::thread::id ends;  ///< the thread that ends the program; written before `ending`

bool must_stop() { return ending.load() && std::this_thread::get_id() != ends; }

void count_cpp(int change) {
  in_cpp += change;
  own_in_cpp += change;
}

void count_python(int change) {
  in_python += change;
  own_in_python += change;
}

/// Precondition: this thread does not hold the lock.
[[noreturn]] void wait_for_the_end() {
  count_python(-own_in_python);
  count_cpp(-own_in_cpp);
  while (true) std::this_thread::sleep_for(1h);
}

void stop_simulations() {
  ends = std::this_thread::get_id();
  ending = true;
  const py::gil_scoped_release unlocked;
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  while (in_cpp > own_in_cpp || in_python > own_in_python) {
    if (std::chrono::steady_clock::now() > until) return;
    std::this_thread::sleep_for(1ms);
  }
}

/// A child of fork() has one thread.
void forget_other_threads() {
  in_cpp = own_in_cpp;
  in_python = own_in_python;
  ending = false;
}

}  // namespace

WithPython::WithPython() {
  count_python(1);
  if (must_stop()) {
    count_python(-1);
    throw RunError("the program ends");
  }
  lock_.emplace();
}

WithPython::~WithPython() {
  lock_.reset();
  count_python(-1);
}

WithoutPython::WithoutPython() {
  count_cpp(1);
  unlocked_.emplace();
  if (must_stop()) wait_for_the_end();
}

WithoutPython::~WithoutPython() {
  if (must_stop()) wait_for_the_end();
  unlocked_.reset();
  count_cpp(-1);
}

void stop_simulations_at_exit() {
  pthread_atfork(nullptr, nullptr, forget_other_threads);
  py::module_::import("atexit").attr("register")(py::cpp_function(stop_simulations));
}

}  // namespace raddle::python
