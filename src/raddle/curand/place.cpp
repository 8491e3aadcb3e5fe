// Streams of starting states, tables of distributions, and the names of kernels.
#include <cmath>

#include "raddle/curand/generator.h"
#include "raddle/curand/images.h"
#include "raddle/curand/poisson.h"

// As the CUDA runtime declares them; cudaError_t is int, 0 is success.
extern "C" {
int cudaStreamIsCapturing(CUstream_st* stream, int* status);
int cudaStreamCreateWithFlags(CUstream_st** stream, unsigned flags);
int cudaStreamDestroy(CUstream_st* stream);
}

namespace raddle::curand {

void wait_for(Stream stream) {
  const cuda_library::OutsideOfCaptures outside;
  cuda_library::wait(stream);
}

Status lacks(const std::string& what) {
  cuda_library::lacks(what, "CURAND_STATUS_ARCH_MISMATCH");
  return kArchMismatch;
}

Place::Place(bool on_device) {
  if (on_device) device_ = std::make_unique<Device>(image);
}
Place::~Place() {
  if (own_ != nullptr) cudaStreamDestroy(own_);
}

Stream Place::for_states() {
  if (!on_device()) return nullptr;
  constexpr unsigned kNonBlocking = 1;  // cudaStreamNonBlocking
  int is_capturing = 0;
  if (cudaStreamIsCapturing(stream, &is_capturing) != 0 || is_capturing == 0) return stream;
  const cuda_library::OutsideOfCaptures outside;
  if (own_ == nullptr && cudaStreamCreateWithFlags(&own_, kNonBlocking) != 0)
    throw cuda_library::DeviceFailure::kExecution;
  return own_;
}
void Place::states_are_made(Stream used) {
  if (on_device() && used != stream) wait_for(used);
}

Shape Generator::poisson_shape(double mean, Distribution which) {
  if (poisson_which_ == which && poisson_.mean == mean) return poisson_;
  poisson_ = {.mean = mean,
              .deviation = std::sqrt(mean),
              .value = nullptr,
              .other = nullptr,
              .length = 0,
              .shift = 0};
  poisson_which_ = which;
  const Stream stream = place.for_states();
  if (which == kPoisson) {
    AliasTable table = alias_table(mean);
    poisson_.shift = table.shift;
    poisson_.length = static_cast<unsigned>(table.value.size());
    values_.fill(std::move(table.value), stream);
    others_.fill(std::move(table.other), stream);
  } else if (which == kPoissonInverse) {
    SumTable table = sum_table(mean);
    poisson_.shift = table.shift;
    poisson_.length = static_cast<unsigned>(table.value.size());
    values_.fill(std::move(table.value), stream);
  }
  place.states_are_made(stream);
  poisson_.value = values_.data();
  poisson_.other = others_.data();
  return poisson_;
}

const char* name_of(Distribution which) {
  switch (which) {
    case kBits:
      return "bits";
    case kUniform:
      return "uniform";
    case kUniformDouble:
      return "uniform_double";
    case kNormal:
      return "normal";
    case kNormalDouble:
      return "normal_double";
    case kLogNormal:
      return "log_normal";
    case kLogNormalDouble:
      return "log_normal_double";
    case kPoisson:
      return "poisson";
    case kPoissonNormal:
      return "poisson_normal";
    case kPoissonInverse:
      return "poisson_inverse";
  }
  return "";
}

}  // namespace raddle::curand
