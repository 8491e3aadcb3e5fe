#include "raddle/cudart/image.h"

#include <cstring>
#include <optional>
#include <string_view>

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

// --- linked images: the mark, how many texts, and of each the name and the text with their lengths

constexpr std::string_view kLinkedMark{"\177RADDLE\0", 8};

void put(std::string& to, const std::string& text) {
  const std::uint64_t bytes = text.size();
  to.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  to += text;
}

std::uint64_t take_number(const char*& at) {
  std::uint64_t number = 0;
  std::memcpy(&number, at, sizeof number);
  at += sizeof number;
  return number;
}

std::string take(const char*& at) {
  const std::uint64_t bytes = take_number(at);
  at += bytes;
  return {at - bytes, bytes};
}

Image read_linked(const char* at) {
  Image image;
  at += kLinkedMark.size();
  for (std::uint64_t left = take_number(at); left != 0; --left) {
    std::string file = take(at);
    image.sources.push_back({take(at), std::move(file)});
  }
  return image;
}

}  // namespace

Image image_of(const void* wrapper, const sim::SeenByProgram& seen, const std::string& program) {
  return image_of(fatbin::registered(*static_cast<const fatbin::Wrapper*>(wrapper), program), seen,
                  program);
}

std::string linked_image(const std::vector<ptx::SourceText>& sources) {
  std::string out(kLinkedMark);
  const std::uint64_t count = sources.size();
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const ptx::SourceText& source : sources) {
    put(out, source.file);
    put(out, source.text);
  }
  return out;
}

Image image_of_data(const void* data, const sim::SeenByProgram& seen, const std::string& what) {
  RADDLE_ASSERT(data != nullptr);
  const auto* const text = static_cast<const char*>(data);
  const std::string_view begin(text, strnlen(text, 8));
  if (begin == kLinkedMark.substr(0, kLinkedMark.size() - 1)) return read_linked(text);
  if (begin.starts_with("\177ELF"))
    throw Failure{kNoKernelImageForDevice,
                  what + ": machine code of a GPU (a cubin) without PTX; give PTX instead"};
  std::uint32_t magic = 0;
  if (begin.size() >= sizeof magic) std::memcpy(&magic, text, sizeof magic);
  if (magic == fatbin::kWrapperMagic) return image_of(data, seen, what);
  if (magic != fatbin::kMagic) return {.sources = {{text, what}}, .registers = {}};
  const auto container = fatbin::measure(static_cast<const std::byte*>(data), what);
  return image_of({.relocatable = false, .containers = {container}, .whole = container}, seen,
                  what);
}

}  // namespace raddle::cudart
