// Launches that were recorded before, wherever: what a replay reads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "raddle/trace/allocation.h"
#include "raddle/trace/device_launch.h"
#include "raddle/trace/stream.h"

namespace raddle::trace {

/// What a recording says of one launch apart from its streams.
struct LaunchHeader {
  std::string name;
  std::uint64_t sequence = 0;
  std::uint32_t stream = 0;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  /// What the host did after the launch before it (sim writes and reads it).
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  /// Of a launch that a kernel made: it follows the host's launch of its tree in the recording, and
  /// the others of lower numbers.
  std::optional<DeviceOrigin> origin = {};
  /// What it finds otherwise than the launch before it, or than nothing. Recordings of old do not
  /// say it.
  AllocationChanges allocations = {};
  std::vector<PointerArgument> pointers = {};
};

class Recording {
 public:
  virtual ~Recording() = default;
  /// workload, parameters, seed.
  virtual const nlohmann::ordered_json& header() const = 0;
  /// input_hash, verdict, difference, operations after the last launch. Known when the last launch
  /// has been asked for.
  virtual const nlohmann::ordered_json& trailer() const = 0;
  virtual std::size_t launches() const = 0;
  /// Launches may be asked for and opened in any order. Only such a recording has launches that
  /// kernels made: they are read together with their tree.
  virtual bool any_order() const { return false; }
  /// In order, where it is not any_order().
  virtual const LaunchHeader& launch(std::size_t i) const = 0;
  /// The streams of the i-th launch, the one last asked for where it is not any_order(). The
  /// recording must outlive them.
  virtual std::unique_ptr<KernelStream> open(std::size_t i) const = 0;
};

}  // namespace raddle::trace
