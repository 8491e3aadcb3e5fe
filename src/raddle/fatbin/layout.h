// The bytes of a container.
#pragma once
#include <cstdint>

namespace raddle::fatbin {

inline constexpr std::uint16_t kContainerVersion = 1, kEntryVersion = 0x0101;
inline constexpr std::uint16_t kKindPtx = 1, kKindCubin = 2;
/// Offsets of options and names are from the start of the entry's header.
inline constexpr std::uint64_t kFlagBinaryTags = 0x1000000;  // options of a cubin are not text

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t entries_bytes;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;     // in the file, padding included
  std::uint32_t compressed_bytes;  // 0 = not compressed
  std::uint32_t options_offset;    // of an OptionsHeader; 0 = none
  std::uint16_t minor, major;
  std::uint32_t sm;
  std::uint32_t name_offset, name_bytes;
  std::uint64_t flags, reserved;
  std::uint64_t uncompressed_bytes;  // 0 = not compressed
};
static_assert(sizeof(EntryHeader) == 64);

struct OptionsHeader {
  std::uint32_t offset, bytes;
};

/// No PTX text or cubin is larger: a wrong number must not ask for all memory there is.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{256} << 20;

}  // namespace raddle::fatbin
