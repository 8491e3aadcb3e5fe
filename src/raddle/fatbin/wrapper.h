// What __cudaRegisterFatBinary is given: a pointer to a wrapper in the program's own data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace raddle::fatbin {

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;           ///< container; of version 2 the device-linked one
  const std::byte* const* extras;  ///< version 2: containers before device linking, NULL ends them
};
static_assert(sizeof(Wrapper) == 24);
inline constexpr std::uint32_t kWrapperMagic = 0x466243b1;

struct Registered {
  /// The containers are relocatable: one PTX of each is to be linked into one module.
  bool relocatable = false;
  std::vector<std::span<const std::byte>> containers;
  std::span<const std::byte> whole;  ///< what a GPU would load: device-linked where need be
};

/// Follows the wrapper's pointers, which the program's loader has relocated: they are trusted.
/// Throws InputError when it is no wrapper, or one of an unknown version.
Registered registered(const Wrapper& wrapper, const std::string& name);

}  // namespace raddle::fatbin
