// Makes containers byte by byte, as nvcc 13 lays them out (the table of raddle/fatbin/fatbin.h).
#pragma once
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace raddle::fatbin {

inline std::span<const std::byte> view(const std::string& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

template <class T>
void put(std::string& out, std::size_t at, T value) {
  if (out.size() < at + sizeof value) out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

inline std::string lz4_block(const std::string& text) {
  std::string out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  out.resize(static_cast<std::size_t>(LZ4_compress_default(
      text.data(), out.data(), static_cast<int>(text.size()), static_cast<int>(out.size()))));
  return out;
}

inline std::string zstd_frame(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct EntryBytes {
  std::uint16_t kind = 1;
  std::uint32_t sm = 75;
  std::uint64_t flags = 0x11;
  std::uint16_t major = 9, minor = 0;
  std::string options, name;
  std::string stored;            // payload; padded to 8 by bytes()
  std::uint32_t compressed = 0;  // 0 = not
  std::uint64_t uncompressed = 0;

  static EntryBytes plain(std::uint32_t sm, const std::string& text) {
    EntryBytes e;
    e.sm = sm;
    e.stored = text + '\0';
    return e;
  }
  static EntryBytes lz4(std::uint32_t sm, const std::string& text) {
    EntryBytes e;
    e.sm = sm;
    e.stored = lz4_block(text + '\0');
    e.flags |= 0x2000;
    e.compressed = static_cast<std::uint32_t>(e.stored.size());
    e.uncompressed = text.size() + 1;
    return e;
  }
  static EntryBytes zstd(std::uint32_t sm, const std::string& text) {
    EntryBytes e;
    e.sm = sm;
    e.stored = zstd_frame(text + '\0');
    e.flags |= 0x8000;
    e.compressed = static_cast<std::uint32_t>(e.stored.size());
    e.uncompressed = text.size() + 1;
    return e;
  }
  static EntryBytes cubin(std::uint32_t sm) {
    EntryBytes e;
    e.kind = 2;
    e.sm = sm;

    e.stored =
        "\x7f"
        "ELF and more";

    e.major = 1;
    e.minor = 8;
    return e;
  }

  std::string bytes() const {
    std::string header(64, '\0');
    put<std::uint16_t>(header, 0x00, kind);
    put<std::uint16_t>(header, 0x02, 0x0101);
    put<std::uint32_t>(header, 0x10, compressed);
    put<std::uint16_t>(header, 0x18, minor);
    put<std::uint16_t>(header, 0x1a, major);
    put<std::uint32_t>(header, 0x1c, sm);
    put<std::uint64_t>(header, 0x28, flags);
    put<std::uint64_t>(header, 0x38, uncompressed);
    if (!options.empty()) {
      put<std::uint32_t>(header, 0x14, 64);
      put<std::uint32_t>(header, 64, 72);
      put(header, 68, static_cast<std::uint32_t>(options.size()));
      header += options;
    }
    if (!name.empty()) {
      put(header, 0x20, static_cast<std::uint32_t>(header.size()));
      put(header, 0x24, static_cast<std::uint32_t>(name.size()));
      header += name;
    }
    header.resize((header.size() + 7) / 8 * 8);
    put(header, 0x04, static_cast<std::uint32_t>(header.size()));
    const std::size_t padded = (stored.size() + 7) / 8 * 8;
    put<std::uint64_t>(header, 0x08, padded);
    return header + stored + std::string(padded - stored.size(), '\0');
  }
};

template <class... Entries>
std::string container(const Entries&... entries) {
  const std::string all = (std::string() + ... + entries.bytes());
  std::string out;
  put<std::uint32_t>(out, 0, 0xBA55ED50);
  put<std::uint16_t>(out, 4, 1);
  put<std::uint16_t>(out, 6, 16);
  put<std::uint64_t>(out, 8, all.size());
  return out + all;
}

}  // namespace raddle::fatbin
