#include "raddle/cudart/image.h"

#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/cudart/context.h"
#include "raddle/fatbin/cubin.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle/fatbin/wrapper.h"

namespace raddle::cudart {

namespace {

void add_registers(std::span<const std::byte> container, const std::string& program, Image& image) {
  try {
    for (const fatbin::Entry& entry : fatbin::read(container, program)) {
      if (entry.kind != fatbin::Kind::Cubin) continue;
      for (const auto& [kernel, registers] : fatbin::registers_of(entry.text(), program))
        if (registers != 0) image.registers[kernel][entry.sm] = registers;
    }
  } catch (const InputError&) {  // of a compiler to come, say
  }
}

/// The PTX of a container that the machine runs; nothing, with the reason in `why`, without one.
std::optional<ptx::SourceText> source_of(std::span<const std::byte> container, unsigned capability,
                                         const std::string& name, std::string& why) {
  const std::vector<fatbin::Entry> entries = fatbin::read(container, name);
  const fatbin::Choice choice = fatbin::choose(entries, capability);
  if (!choice.entry) {
    why = choice.note;
    return std::nullopt;
  }
  RADDLE_ASSERT(*choice.entry < entries.size());
  const fatbin::Entry& entry = entries[*choice.entry];
  const std::string file = name + (entry.name.empty() ? "" : ":" + entry.name);
  return ptx::SourceText{entry.text(), file + " (PTX for " + entry.target() + ")"};
}

Image image_of(const fatbin::Registered& registered, const sim::SeenByProgram& seen,
               const std::string& program) {
  Image image;
  std::string why;
  for (const auto container : registered.containers)
    if (auto source = source_of(container, seen.device.compute_capability, program, why))
      image.sources.push_back(std::move(*source));
  if (image.sources.empty()) throw Failure{kNoKernelImageForDevice, program + ": " + why};
  if (!registered.whole.empty()) add_registers(registered.whole, program, image);
  return image;
}

// --- linked images: the mark, bytes of the whole, how many texts, and of each the name and the
// --- text with their lengths

constexpr std::string_view kLinkedMark{"\177RADDLE\0", 8};
constexpr std::size_t kNumber = sizeof(std::uint64_t);

void put(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), kNumber);
}
void put(std::string& to, const std::string& text) {
  put(to, text.size());
  to += text;
}

/// What is left of a linked image.
class LinkedReader {
 public:
  LinkedReader(std::string_view bytes, std::string what) : left_(bytes), what_(std::move(what)) {}
  std::uint64_t number() {
    std::uint64_t out = 0;
    std::memcpy(&out, taken(kNumber).data(), kNumber);
    return out;
  }
  std::string text() { return std::string(taken(number())); }

 private:
  std::string_view taken(std::uint64_t bytes) {
    if (bytes > left_.size()) throw InputError({what_}, "the linked image ends too early");
    const std::string_view out = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return out;
  }
  std::string_view left_;
  std::string what_;
};

Image read_linked(std::string_view bytes, const std::string& what) {
  LinkedReader in(bytes.substr(kLinkedMark.size() + kNumber), what);
  Image image;
  for (std::uint64_t left = in.number(); left != 0; --left) {
    std::string file = in.text();
    image.sources.push_back({in.text(), std::move(file)});
  }
  return image;
}

/// Of an image that says itself how long it is.
std::size_t bytes_of(const char* data, const std::string& what) {
  const std::string_view begin(data, strnlen(data, kLinkedMark.size()));
  if (begin == kLinkedMark.substr(0, kLinkedMark.size() - 1)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, data + kLinkedMark.size(), kNumber);
    return bytes;
  }
  std::uint32_t magic = 0;
  if (begin.size() >= sizeof magic) std::memcpy(&magic, data, sizeof magic);
  if (magic != fatbin::kMagic) return std::strlen(data);
  return fatbin::measure(reinterpret_cast<const std::byte*>(data), what).size();
}

}  // namespace

Image image_of(const void* wrapper, const sim::SeenByProgram& seen, const std::string& program) {
  return image_of(fatbin::registered(*static_cast<const fatbin::Wrapper*>(wrapper), program), seen,
                  program);
}

std::string linked_image(const std::vector<ptx::SourceText>& sources) {
  std::string texts;
  put(texts, sources.size());
  for (const ptx::SourceText& source : sources) {
    put(texts, source.file);
    put(texts, source.text);
  }
  std::string out(kLinkedMark);
  put(out, kLinkedMark.size() + kNumber + texts.size());
  return out + texts;
}

Image image_of_bytes(std::string_view bytes, const sim::SeenByProgram& seen,
                     const std::string& what) {
  if (bytes.starts_with(kLinkedMark) && bytes.size() >= kLinkedMark.size() + kNumber)
    return read_linked(bytes, what);
  if (bytes.starts_with("\177ELF"))
    throw Failure{kNoKernelImageForDevice,
                  what + ": machine code of a GPU (a cubin) without PTX; give PTX instead"};
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (magic != fatbin::kMagic)
    return {.sources = {{std::string(bytes.substr(0, bytes.find('\0'))), what}}, .registers = {}};
  const auto container = std::as_bytes(std::span(bytes));
  return image_of({.relocatable = false, .containers = {container}, .whole = container}, seen,
                  what);
}

Image image_of_data(const void* data, const sim::SeenByProgram& seen, const std::string& what) {
  RADDLE_ASSERT(data != nullptr);
  const auto* const start = static_cast<const char*>(data);
  std::uint32_t magic = 0;
  if (strnlen(start, sizeof magic) == sizeof magic) std::memcpy(&magic, start, sizeof magic);
  if (magic == fatbin::kWrapperMagic) return image_of(data, seen, what);
  return image_of_bytes({start, bytes_of(start, what)}, seen, what);
}

}  // namespace raddle::cudart
