#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include "raddle/base/error.h"
#include "raddle/fatbin/fatbin.h"

namespace raddle::fatbin {

namespace {

/// An LZ4 block cannot hold more: no byte of it stands for more than 255.
constexpr std::uint64_t kLz4Ratio = 255;

[[noreturn]] void bad(const Entry& entry, const std::string& what) {
  throw InputError({entry.file},
                   fmt::format("byte {}: the {} here {}", entry.offset, entry.target(), what));
}

std::string from_lz4(const Entry& entry) {
  // Before so much memory is asked for.
  if (entry.text_bytes / kLz4Ratio > entry.payload.size())
    bad(entry, fmt::format("cannot be {} bytes when {} are compressed by LZ4", entry.text_bytes,
                           entry.payload.size()));
  std::string text(entry.text_bytes, '\0');
  const int n =
      LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()), text.data(),
                          static_cast<int>(entry.payload.size()), static_cast<int>(text.size()));
  if (n < 0) bad(entry, "is no LZ4 block");
  if (static_cast<std::uint64_t>(n) != entry.text_bytes)
    bad(entry, fmt::format("decompresses to {} bytes, expected {}", n, entry.text_bytes));
  return text;
}

std::string from_zstd(const Entry& entry) {
  const auto said = ZSTD_getFrameContentSize(entry.payload.data(), entry.payload.size());
  if (said == ZSTD_CONTENTSIZE_ERROR) bad(entry, "is no zstd frame");
  if (said != ZSTD_CONTENTSIZE_UNKNOWN && said != entry.text_bytes)
    bad(entry, fmt::format("is a zstd frame of {} bytes, expected {}", said, entry.text_bytes));
  std::string text(entry.text_bytes, '\0');
  const std::size_t n =
      ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
  if (ZSTD_isError(n) != 0)
    bad(entry, fmt::format("cannot be decompressed: {}", ZSTD_getErrorName(n)));
  if (n != entry.text_bytes)
    bad(entry, fmt::format("decompresses to {} bytes, expected {}", n, entry.text_bytes));
  return text;
}

}  // namespace

bool Entry::relocatable() const { return options.find("--compile-only") != std::string::npos; }

std::string Entry::target() const {
  const char* variant = "";
  if ((flags & kFlagArchitectureVariant) != 0) variant = "a";
  if ((flags & kFlagFamilyVariant) != 0) variant = "f";
  switch (kind) {
    case Kind::Ptx:
      return fmt::format("compute_{}{}", sm, variant);
    case Kind::Cubin:
      return fmt::format("sm_{}{}", sm, variant);
    case Kind::Other:
      break;
  }
  return fmt::format("entry of kind {}", raw_kind);
}

std::string Entry::text() const {
  std::string out;
  switch (compression) {
    case Compression::None:
      out.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
      break;
    case Compression::Lz4:
      out = from_lz4(*this);
      break;
    case Compression::Zstd:
      out = from_zstd(*this);
      break;
  }
  if (kind == Kind::Ptx) out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

}  // namespace raddle::fatbin
