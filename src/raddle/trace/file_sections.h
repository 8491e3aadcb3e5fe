// Section headers of .rdl files (file.h), shared by writer and reader.
#pragma once
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace raddle::trace {

inline constexpr std::string_view kFileMagic = "RADDLE\r\n";
inline constexpr int kCompressionLevel = 3;
/// Raw words after which a Blocks section is closed: small enough that hundreds may be open at
/// once.
inline constexpr std::size_t kBatchWords = std::size_t{1} << 16;
/// No section of an honest file is larger (one block of 32 warps and 2^26 words each would be).
inline constexpr std::uint32_t kMaxSectionBytes = 1u << 31;

/// A section unpacks to so many times its packed bytes and header at most, so that a reader knows
/// from a file's size what memory it needs: 2,048 times that, with the words of a section beside
/// its raw bytes (codec.h), or the values of a JSON text in memory (base/json.h). Where zstd does
/// better the writer adds a frame of zeros that is skipped, a thousandth of what was packed.
inline constexpr std::uint64_t kBlocksRatio = 1024, kJsonRatio = 64;

enum class SectionKind : std::uint32_t { Header = 1, Launch, Blocks, Index, End };

struct SectionHeader {
  std::uint32_t kind, raw_bytes, packed_bytes, reserved;
  std::uint64_t hash;  ///< of the packed bytes, seeded with the numbers above
};
static_assert(sizeof(SectionHeader) == 24);

constexpr std::uint64_t max_raw_bytes(SectionKind kind, std::uint64_t packed_bytes) {
  return (kind == SectionKind::Blocks ? kBlocksRatio : kJsonRatio) *
         (packed_bytes + sizeof(SectionHeader));
}

inline std::uint64_t section_hash(const SectionHeader& h, std::string_view packed) {
  const std::uint64_t seed = (std::uint64_t{h.raw_bytes} << 32 | h.packed_bytes) * 31 +
                             (std::uint64_t{h.reserved} << 8) + h.kind;
  return XXH64(packed.data(), packed.size(), seed);
}

inline SectionHeader seal(SectionKind kind, std::uint32_t raw_bytes, std::string_view packed) {
  SectionHeader h{static_cast<std::uint32_t>(kind), raw_bytes,
                  static_cast<std::uint32_t>(packed.size()), 0, 0};
  h.hash = section_hash(h, packed);
  return h;
}

}  // namespace raddle::trace
