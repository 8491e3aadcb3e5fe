// libFuzzer target: fat-binary containers. The mutator decompresses an entry, changes what is in
// it, packs it anew (plain, LZ4, zstd) and puts the lengths of headers right, so that PTX and
// cubins inside are reached; some inputs are changed byte by byte. Invariant: any bytes are read,
// and every entry decompressed and every cubin's kernels found, or refused by InputError.
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/fatbin/cubin.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle/fatbin/layout.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

using namespace raddle::fatbin;

std::string compressed(const std::string& text, Compression how) {
  if (how == Compression::None) return text;
  std::string out(how == Compression::Lz4
                      ? static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size())))
                      : ZSTD_compressBound(text.size()),
                  '\0');
  out.resize(how == Compression::Lz4
                 ? static_cast<std::size_t>(LZ4_compress_default(text.data(), out.data(),
                                                                 static_cast<int>(text.size()),
                                                                 static_cast<int>(out.size())))
                 : ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

/// The container in which byte `offset` lies is longer by `more` bytes.
void lengthen_container(std::string& bytes, std::size_t offset, std::uint64_t more) {
  for (std::size_t start = 0;;) {
    auto header = at<ContainerHeader>(bytes, start);
    const std::size_t end = start + sizeof header + header.entries_bytes;
    if (offset < end) {
      header.entries_bytes += more;
      std::memcpy(bytes.data() + start, &header, sizeof header);
      return;
    }
    start = end;
  }
}

/// `bytes` with another text in the entry.
std::string with_text(std::string bytes, const Entry& entry, const std::string& text,
                      Compression how) {
  auto header = at<EntryHeader>(bytes, entry.offset);
  const std::size_t start = entry.offset + header.header_bytes, old = header.payload_bytes;
  const std::string packed = compressed(text, how);
  header.payload_bytes = packed.size();
  header.compressed_bytes =
      how == Compression::None ? 0 : static_cast<std::uint32_t>(packed.size());
  header.uncompressed_bytes = how == Compression::None ? 0 : text.size();
  header.flags &= ~(kFlagLz4 | kFlagZstd);
  if (how == Compression::Lz4) header.flags |= kFlagLz4;
  if (how == Compression::Zstd) header.flags |= kFlagZstd;
  std::memcpy(bytes.data() + entry.offset, &header, sizeof header);
  lengthen_container(bytes, entry.offset, packed.size() - old);  // modulo 2^64, may be less
  bytes.replace(start, old, packed);
  return bytes;
}

/// As a compiler might have written it, with something else in one of the entries.
std::string changed(const std::string& bytes, raddle::Rng& rng) {
  const std::vector<Entry> entries = read(std::as_bytes(std::span(bytes)), "fuzz");
  if (entries.empty()) return bytes;
  const Entry& entry = entries[rng.below(static_cast<std::uint32_t>(entries.size()))];
  std::string text = entry.text();
  const std::size_t before = text.size();
  text.resize(before + 64);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), before, text.size()));
  const auto how = text.empty() ? Compression::None : Compression{static_cast<int>(rng.below(3))};
  return with_text(bytes, entry, text, how);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  raddle::Rng rng(seed);
  if (rng.below(3) == 0) return LLVMFuzzerMutate(data, size, max);
  try {
    const std::string out = changed({reinterpret_cast<const char*>(data), size}, rng);
    if (out.size() > max) return size;
    std::memcpy(data, out.data(), out.size());
    return out.size();
  } catch (const raddle::InputError&) {
    return LLVMFuzzerMutate(data, size, max);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto entries = read({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    for (const unsigned sm : {70U, 90U}) {
      const Choice choice = choose(entries, sm);
      if (choice.entry.has_value() != (choice.entry && entries.at(*choice.entry).kind == Kind::Ptx))
        std::abort();
    }
    for (const Entry& entry : entries) {
      const std::string text = entry.text();
      if (text.size() > entry.text_bytes) std::abort();
      if (entry.kind == Kind::Cubin)
        for (const auto& [kernel, registers] : registers_of(text, "fuzz"))
          if (registers > 255) std::abort();
    }
  } catch (const raddle::InputError&) {
  }
  return 0;
}
