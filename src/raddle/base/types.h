// The words every room shares: cycles, addresses, lanes and identifiers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace raddle {

/// Core-clock cycles since the start of the simulation.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

/// Byte address in the simulated device's address space (always below 2^39, see
/// exec/memory/memory.h).
using Address = std::uint64_t;

/// One bit per lane of a warp; lane 0 is bit 0.
using LaneMask = std::uint32_t;
inline constexpr unsigned kLanes = 32;
inline constexpr LaneMask kFullMask = ~LaneMask{0};

/// Identifiers are distinct types so that one cannot be passed for another; `index` opens them.
enum class SmId : std::uint32_t {};
enum class StreamId : std::uint32_t {};
/// Who shares the GPU with others: an application, or a group of streams.
enum class TenantId : std::uint8_t {};
inline constexpr unsigned kMaxTenants = 8;
template <class Id>
constexpr auto index(Id id) {
  return static_cast<std::underlying_type_t<Id>>(id);
}

/// Extents of a grid or of a thread block.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

}  // namespace raddle
