// Files that may be compressed with zstd: the first bytes decide, not the name.
#pragma once
#include <cstdint>
#include <string>

namespace raddle {

/// `bytes`, or what they hold when they are compressed. Throws InputError naming `file` when the
/// compressed data is damaged, ends early, or holds more than `most` bytes.
std::string decompressed(std::string bytes, std::uint64_t maximum, const std::string& file);

}  // namespace raddle
