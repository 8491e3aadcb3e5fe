// An array in device memory that is freed with its owner, and the few lines every host program has.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/runtime/device.h"
#include "raddle/runtime/workload.h"

namespace raddle::workloads {

template <class T>
class DeviceArray {
 public:
  /// Not initialised. An empty array still has an address of its own.
  DeviceArray(runtime::Device& device, std::size_t count)
      : device_(device),
        count_(count),
        at_(device.allocate(std::max<std::size_t>(count, 1) * sizeof(T))) {}
  DeviceArray(runtime::Device& device, const std::vector<T>& values)
      : DeviceArray(device, values.size()) {
    upload(values);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    try {
      device_.free(at_);
    } catch (const std::exception&) {
      // A run that already failed on this device: its error is the one to report.
    }
  }

  /// As a kernel argument.
  Address address() const { return at_; }
  std::size_t size() const { return count_; }
  /// Precondition: values.size() == size().
  void upload(const std::vector<T>& values) {
    if (count_ != 0) device_.copy_to_device(at_, values.data(), count_ * sizeof(T));
  }
  std::vector<T> download() const { return device_.download<T>(at_, count_); }
  /// What a check alone wants to know.
  std::vector<T> inspect() const {
    std::vector<T> values(count_);
    device_.inspect(values.data(), at_, count_ * sizeof(T));
    return values;
  }
  void set_bytes(std::uint8_t value) { device_.set(at_, value, count_ * sizeof(T)); }

 private:
  runtime::Device& device_;
  std::size_t count_;
  Address at_;
};

/// Loads the PTX embedded for `workload`.
inline runtime::ModuleId load_module(runtime::Device& device, std::string_view workload) {
  return device.load_known(std::string(runtime::embedded_ptx(workload)),
                           "workloads/" + std::string(workload) + "/kernels.ptx",
                           runtime::registers_of(workload));
}

/// Blocks of `per_block` items that cover `items`.
inline std::uint32_t blocks_for(std::uint64_t items, std::uint64_t per_block) {
  return static_cast<std::uint32_t>((items + per_block - 1) / per_block);
}

}  // namespace raddle::workloads
