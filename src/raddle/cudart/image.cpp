#include "raddle/cudart/image.h"

#include "raddle/base/error.h"
#include "raddle/cudart/context.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle/fatbin/wrapper.h"

namespace raddle::cudart {

std::vector<ptx::SourceText> images_of(const void* wrapper, const sim::Setup& setup,
                                       const std::string& program) {
  const fatbin::Registered registered =
      fatbin::registered(*static_cast<const fatbin::Wrapper*>(wrapper), program);
  std::vector<ptx::SourceText> images;
  std::string why;
  for (const auto container : registered.containers) {
    const std::vector<fatbin::Entry> entries = fatbin::read(container, program);
    const fatbin::Choice choice = fatbin::choose(entries, setup.device.compute_capability);
    if (!choice.entry) {
      why = choice.note;
      continue;
    }
    const fatbin::Entry& entry = entries[*choice.entry];
    std::string file = program + (entry.name.empty() ? "" : ":" + entry.name);
    images.push_back({entry.text(), file + " (PTX for " + entry.target() + ")"});
  }
  if (images.empty()) throw Failure{kNoKernelImageForDevice, program + ": " + why};
  return images;
}

}  // namespace raddle::cudart
