// Fat binaries: the containers in which nvcc puts a translation unit's PTX texts and cubins. Layout
// as nvcc 13.0 writes it, little endian:
//   container  16 bytes {magic, version 1, bytes of this header, bytes of all entries}, then the
//              entries back to back; several containers may follow one another
//   entry      a header of 64 bytes or more (options and source name behind the first 64), then the
//              payload: plain, a raw LZ4 block or a zstd frame
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace raddle::fatbin {

/// The first four bytes of a container, little endian.
inline constexpr std::uint32_t kMagic = 0xBA55ED50;

enum class Kind { Ptx, Cubin, Other };
enum class Compression { None, Lz4, Zstd };

/// Bits of an entry's flags.
inline constexpr std::uint64_t kFlag64Bit = 0x1, kFlagDebug = 0x2, kFlagLz4 = 0x2000,
                               kFlagZstd = 0x8000, kFlagArchitectureVariant = 0x100000,
                               kFlagFamilyVariant = 0x200000;

struct Entry {
  Kind kind = Kind::Other;
  std::uint16_t raw_kind = 0;  ///< as in the file
  Compression compression = Compression::None;
  std::uint32_t sm = 0;  ///< 75, 90, ... the target
  std::uint64_t flags = 0;
  unsigned version_major = 0, version_minor = 0;  ///< of PTX for a PTX entry
  std::string options;                            ///< of the compiler; PTX only
  std::string name;                               ///< source file, where the build kept it
  std::string file;                               ///< the container's name, for messages
  std::uint64_t offset = 0;                       ///< of the entry's header in `file`, bytes
  std::span<const std::byte> payload;  ///< as stored, without padding; a view of what was read
  std::uint64_t text_bytes = 0;        ///< of text(), or of the cubin, decompressed

  /// One of several modules that must be linked (-rdc=true, -dc).
  bool relocatable() const;
  /// "compute_90a", "sm_75": what nvcc calls the target.
  std::string target() const;
  /// The payload, decompressed; for PTX without the NUL bytes at its end. Throws InputError naming
  /// file and offset when it does not decompress to text_bytes bytes.
  std::string text() const;
};

/// Entries of all containers in `bytes`, in order. They view `bytes`. Payloads are not touched.
/// Throws InputError naming `name` and the offset.
std::vector<Entry> read(std::span<const std::byte> bytes, const std::string& name);

/// The container that begins at `start`, in memory that is known to hold a whole one (the process's
/// own read-only data). Throws InputError when no container begins there.
std::span<const std::byte> measure(const std::byte* start, const std::string& name);

/// Which entry a machine runs.
struct Choice {
  std::optional<std::size_t> entry;  ///< index into the entries
  /// Without an entry why, and how to rebuild; with one "", or what is odd about it.
  std::string note;
};

/// The PTX entry with the highest target that is not above `sm`; where there is none, the lowest
/// above it (nvcc 13 knows no target below 75, and a machine's number changes nothing in what PTX
/// means). Of one target, the plain one is taken before variants 'f' and 'a': it asks for nothing
/// that only that silicon has. Relocatable entries and whole ones are alike here.
Choice choose(const std::vector<Entry>& entries, unsigned sm);

}  // namespace raddle::fatbin
