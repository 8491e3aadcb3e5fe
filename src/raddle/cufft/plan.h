// What a cufftHandle leads to.
#pragma once
#include <array>
#include <memory>

#include "raddle/cuda_library/device.h"
#include "raddle/cufft/status.h"
#include "raddle/cufft/transform.h"

namespace raddle::cufft {

/// What a program asks for, as cufftMakePlanMany64 does. No `in_embed` or no `out_embed`: arrays
/// lie side by side without gaps, those of real numbers in place with the padding of complex ones.
struct Request {
  int rank = 0;
  const long long* n = nullptr;
  const long long *in_embed = nullptr, *out_embed = nullptr;
  long long in_stride = 1, in_dist = 0, out_stride = 1, out_dist = 0;
  long long batch = 1;
  int type = kC2C;
};

/// Bytes of work area. Throws Refusal when it cannot be done.
std::size_t work_bytes_of(const Request& request);

class Plan {
 public:
  Plan();
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  bool is_made() const { return tables_ != nullptr; }
  Type type() const { return type_; }
  std::size_t work_bytes() const { return work_bytes_; }

  /// Once. Throws Refusal, DeviceFailure; then it is as before.
  void make(const Request& request);
  /// Launches in the stream. Throws Refusal, DeviceFailure.
  void run(const void* in, void* out, bool inverse);

  /// Of the program, null to have none. What the plan has of its own is freed.
  void set_work_area(void* at);
  void set_auto_allocation(bool is_on) { allocates_ = is_on; }
  void set_stream(cuda_library::Stream stream) { stream_ = stream; }

  /// cufftProperty, from 1. They say how kernels are compiled: kept and not looked at.
  static constexpr int kProperties = 2;
  std::array<long long, kProperties> properties{};

 private:
  void launch(const Step& step, const void* in, void* out, bool inverse);

  std::shared_ptr<cuda_library::Device> device_;
  std::unique_ptr<Tables> tables_;
  Type type_ = kC2C;
  Program programs_[2][2];  ///< in place; with pairs at aligned addresses
  std::size_t work_bytes_ = 0;
  void *work_ = nullptr, *own_work_ = nullptr;
  bool allocates_ = true;
  cuda_library::Stream stream_ = nullptr;
};

}  // namespace raddle::cufft
