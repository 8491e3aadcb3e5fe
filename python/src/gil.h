// The interpreter's lock, and the end of the program. A thread of Python that simulates when the
// program ends must not ask for the lock any more: the interpreter would end the thread in the
// midst of C++. So the program's end stops simulations first; their threads then wait for the end
// of the process.
#pragma once
#include <pybind11/pybind11.h>

#include <optional>

namespace raddle::python {

namespace py = pybind11;

/// Holds the lock. Throws RunError where the program ends, except in the thread that ends it.
class WithPython {
 public:
  WithPython();
  ~WithPython();
  WithPython(const WithPython&) = delete;
  WithPython& operator=(const WithPython&) = delete;

 private:
  std::optional<py::gil_scoped_acquire> lock_;
};

/// Lets the lock go. Precondition: it is held. Where the program ends, its thread gets no further
/// than the end of this.
class WithoutPython {
 public:
  WithoutPython();
  ~WithoutPython();
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;

 private:
  std::optional<py::gil_scoped_release> unlocked_;
};

/// Once, when the module is made.
void stop_simulations_at_exit();

}  // namespace raddle::python
