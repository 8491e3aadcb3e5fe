// How a call of one of the libraries ends: what its body throws becomes the library's own status.
#pragma once
#include <exception>
#include <new>

#include "raddle/cuda_library/device.h"

namespace raddle::cuda_library {

/// What ends a call early. `Status`: the library's enumeration of statuses.
template <class Status>
struct Refusal {
  Status status;
};

/// A library's own statuses for what may go wrong in any of them.
template <class Status>
struct FailureStatuses {
  Status success, no_device, wrong_machine, no_memory, execution, internal_error;

  constexpr Status of(DeviceFailure failure) const {
    switch (failure) {
      case DeviceFailure::kNoDevice:
        return no_device;
      case DeviceFailure::kWrongMachine:
        return wrong_machine;
      case DeviceFailure::kNoMemory:
        return no_memory;
      case DeviceFailure::kExecution:
        return execution;
      case DeviceFailure::kNoKernel:
        break;
    }
    return internal_error;
  }
};

/// Runs the body of a call. Throws nothing.
template <class Status, class Body>
Status guarded(const FailureStatuses<Status>& statuses, const Body& body) {
  try {
    body();
    return statuses.success;
  } catch (const Refusal<Status>& refusal) {
    return refusal.status;
  } catch (const DeviceFailure failure) {
    return statuses.of(failure);
  } catch (const std::bad_alloc&) {
    return statuses.no_memory;
  } catch (const std::exception&) {
    return statuses.internal_error;
  }
}

}  // namespace raddle::cuda_library
