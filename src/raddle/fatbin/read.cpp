#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle/fatbin/layout.h"
#include "raddle/fatbin/wrapper.h"

namespace raddle::fatbin {

namespace {

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  [[noreturn]] void bad(std::uint64_t at, const std::string& what) const {
    throw InputError({name_}, fmt::format("byte {}: {}", at, what));
  }
  std::uint64_t size() const { return bytes_.size(); }
  const std::string& name() const { return name_; }

  /// A struct at `at`; all of it must lie before `end`.
  template <class T>
  T at(std::uint64_t at, std::uint64_t end, const char* what) const {
    need(at, sizeof(T), end, what);
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t bytes, std::uint64_t end,
                                  const char* what) const {
    need(at, bytes, end, what);
    return bytes_.subspan(at, bytes);
  }
  bool zero(std::uint64_t at, std::uint64_t end) const {
    RADDLE_ASSERT(at <= end && end <= size());
    return std::ranges::all_of(bytes_.subspan(at, end - at),
                               [](std::byte b) { return b == std::byte{0}; });
  }

 private:
  void need(std::uint64_t at, std::uint64_t bytes, std::uint64_t end, const char* what) const {
    if (at <= end && bytes <= end - at) return;
    bad(at, fmt::format("{} takes {} bytes, {} are left{}", what, bytes, at <= end ? end - at : 0,
                        end == size() ? ": the file is truncated" : ""));
  }

  std::span<const std::byte> bytes_;
  std::string name_;
};

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Compression compression_of(const Reader& in, std::uint64_t at, const EntryHeader& header) {
  const std::uint64_t flags = header.flags & (kFlagLz4 | kFlagZstd);
  if (flags == (kFlagLz4 | kFlagZstd)) in.bad(at + 0x28, "flags say both LZ4 and zstd");
  if (flags == 0) {
    if (header.uncompressed_bytes == 0) return Compression::None;
    in.bad(at + 0x28, fmt::format("compressed in an unknown way (flags 0x{:x})", header.flags));
  }
  if (header.compressed_bytes > header.payload_bytes)
    in.bad(at + 0x10, fmt::format("{} compressed bytes in a payload of {}", header.compressed_bytes,
                                  header.payload_bytes));
  if (header.compressed_bytes == 0) in.bad(at + 0x10, "flags say compressed, but of 0 bytes");
  if (header.uncompressed_bytes > kMaxTextBytes)
    in.bad(at + 0x38, fmt::format("{} bytes when decompressed; at most {} are read",
                                  header.uncompressed_bytes, kMaxTextBytes));
  return flags == kFlagLz4 ? Compression::Lz4 : Compression::Zstd;
}

/// Options and source name, which lie in the entry's header behind its first 64 bytes.
void read_strings(const Reader& in, std::uint64_t at, const EntryHeader& header, Entry& entry) {
  const std::uint64_t end = at + header.header_bytes;
  if (header.options_offset != 0) {
    const auto options =
        in.at<OptionsHeader>(at + header.options_offset, end, "the descriptor of options");
    const auto text = in.part(at + options.offset, options.bytes, end, "the text of options");
    if ((header.flags & kFlagBinaryTags) == 0) entry.options = as_text(text);
  }
  if (header.name_bytes != 0)
    entry.name =
        as_text(in.part(at + header.name_offset, header.name_bytes, end, "the source's name"));
  // Stored with the NUL that ends it or without.
  while (entry.name.ends_with('\0')) entry.name.pop_back();
}

Entry read_entry(const Reader& in, std::uint64_t at, std::uint64_t end, std::uint64_t& next) {
  const auto header = in.at<EntryHeader>(at, end, "an entry's header");
  if (header.version != kEntryVersion)
    in.bad(at + 2, fmt::format("an entry of version 0x{:04x}, expected 0x{:04x}", header.version,
                               kEntryVersion));
  if (header.header_bytes < sizeof header)
    in.bad(at + 4, fmt::format("an entry's header of {} bytes, expected at least {}",
                               header.header_bytes, sizeof header));
  in.part(at, header.header_bytes, end, "an entry's header");
  const std::uint64_t start = at + header.header_bytes;
  const auto stored = in.part(start, header.payload_bytes, end, "an entry's payload");
  next = start + header.payload_bytes;
  RADDLE_ASSERT(next > at && next <= end);  // or an entry would be read for ever

  Entry entry;
  entry.file = in.name();
  entry.offset = at;
  entry.raw_kind = header.kind;
  entry.sm = header.sm;
  entry.flags = header.flags;
  entry.version_major = header.major;
  entry.version_minor = header.minor;
  entry.payload = stored;
  entry.text_bytes = stored.size();
  // Of other kinds nothing but the size is known.
  if (header.kind != kKindPtx && header.kind != kKindCubin) return entry;
  entry.kind = header.kind == kKindPtx ? Kind::Ptx : Kind::Cubin;
  entry.compression = compression_of(in, at, header);
  if (entry.compression != Compression::None) {
    entry.payload = stored.first(header.compressed_bytes);
    entry.text_bytes = header.uncompressed_bytes;
  }
  read_strings(in, at, header, entry);
  return entry;
}

/// Checked header of the container at `at`.
ContainerHeader read_container(const Reader& in, std::uint64_t at) {
  const auto header = in.at<ContainerHeader>(at, in.size(), "a fat binary's header");
  if (header.magic != kMagic)
    in.bad(at, fmt::format("no fat binary begins here: magic 0x{:08x}, expected 0x{:08x}",
                           header.magic, kMagic));
  if (header.version != kContainerVersion)
    in.bad(at + 4, fmt::format("a fat binary of version {}, expected {}", header.version,
                               kContainerVersion));
  if (header.header_bytes != sizeof header)
    in.bad(at + 6, fmt::format("a fat binary's header of {} bytes, expected {}",
                               header.header_bytes, sizeof header));
  return header;
}

}  // namespace

std::vector<Entry> read(std::span<const std::byte> bytes, const std::string& name) {
  const Reader in(bytes, name);
  std::vector<Entry> entries;
  std::uint64_t at = 0;
  do {
    RADDLE_ASSERT(at <= in.size());
    const ContainerHeader header = read_container(in, at);
    at += sizeof header;
    in.part(at, header.entries_bytes, in.size(), "a fat binary's content");
    for (const std::uint64_t end = at + header.entries_bytes; at < end;)
      entries.push_back(read_entry(in, at, end, at));
    // A section may be padded at its end.
    if (in.size() - at < sizeof header && in.zero(at, in.size())) break;
  } while (at < in.size());
  return entries;
}

std::span<const std::byte> measure(const std::byte* start, const std::string& name) {
  const Reader in({start, sizeof(ContainerHeader)}, name);
  const ContainerHeader header = read_container(in, 0);
  if (header.entries_bytes > std::uint64_t{1} << 40)
    in.bad(8, fmt::format("a fat binary of {} bytes", header.entries_bytes));
  return {start, sizeof header + header.entries_bytes};
}

Registered registered(const Wrapper& wrapper, const std::string& name) {
  if (wrapper.magic != kWrapperMagic)
    throw InputError({name}, fmt::format("no wrapper of a fat binary: magic 0x{:08x}, expected "
                                         "0x{:08x}",
                                         wrapper.magic, kWrapperMagic));
  if (wrapper.version != 1 && wrapper.version != 2)
    throw InputError({name}, fmt::format("a wrapper of a fat binary of version {}, expected 1 or 2",
                                         wrapper.version));
  Registered out;
  out.relocatable = wrapper.version == 2 && wrapper.extras != nullptr;
  if (wrapper.data != nullptr) out.whole = measure(wrapper.data, name);
  if (!out.relocatable) out.containers.push_back(out.whole);
  else
    for (const std::byte* const* at = wrapper.extras; *at != nullptr; ++at)
      out.containers.push_back(measure(*at, name));
  return out;
}

}  // namespace raddle::fatbin
