// A GPU for host code in Python: raddle.Gpu and raddle.launch are made of it.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "watch.h"

namespace raddle::python {

/// Of one thread at a time: RunError where it is used meanwhile, by another thread, or from a
/// policy or a function that it calls itself.
class Device {
 public:
  /// `watch` is kept as long as the device.
  Device(const api::Simulator& simulator, const std::string& name, const api::Settings& settings,
         api::Watch watch, std::uint64_t input_hash);
  runtime::ModuleId load(std::string ptx, std::string file);
  /// [{name, short_name, parameters: [{name, type, size, is_array}]}] of a module's kernels.
  py::list kernels(runtime::ModuleId module);
  Address allocate(std::uint64_t bytes);
  void free(Address at);
  void write(Address to, const py::buffer& from);
  void read(const py::buffer& to, Address from);
  Address symbol(runtime::ModuleId module, const std::string& name);
  void launch(runtime::ModuleId module, const std::string& kernel, Dim3 grid, Dim3 block,
              const std::vector<py::bytes>& arguments, std::uint32_t shared_bytes,
              std::uint32_t stream);
  std::uint32_t create_stream();
  void synchronize();
  /// Nothing may follow.
  api::Result finish();

 private:
  /// Whoever uses the device has one, made and destroyed with the lock held.
  class Use {
   public:
    explicit Use(Device& device);
    ~Use() { device_.used_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Device& device_;
  };
  runtime::SimulatedDevice& device();
  std::unique_ptr<api::Watch> watch_;
  std::unique_ptr<sim::Session> session_;  ///< null once it has finished
  std::atomic<bool> used_ = false;
  std::atomic<std::thread::id> user_ = {};
};

void bind_device(py::module_& module);

}  // namespace raddle::python
