#include "raddle/cudart/image.h"

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

}  // namespace

Image image_of(const void* wrapper, const sim::SeenByProgram& seen, const std::string& program) {
  const fatbin::Registered registered =
      fatbin::registered(*static_cast<const fatbin::Wrapper*>(wrapper), program);
  Image image;
  std::string why;
  for (const auto container : registered.containers) {
    const std::vector<fatbin::Entry> entries = fatbin::read(container, program);
    const fatbin::Choice choice = fatbin::choose(entries, seen.device.compute_capability);
    if (!choice.entry) {
      why = choice.note;
      continue;
    }
    RADDLE_ASSERT(*choice.entry < entries.size());
    const fatbin::Entry& entry = entries[*choice.entry];
    std::string file = program + (entry.name.empty() ? "" : ":" + entry.name);
    image.sources.push_back({entry.text(), file + " (PTX for " + entry.target() + ")"});
  }
  if (image.sources.empty()) throw Failure{kNoKernelImageForDevice, program + ": " + why};
  if (!registered.whole.empty()) add_registers(registered.whole, program, image);
  return image;
}

}  // namespace raddle::cudart
