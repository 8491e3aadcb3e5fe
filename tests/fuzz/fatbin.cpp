// libFuzzer target: fat-binary containers. Invariant: any bytes are read, and every entry
// decompressed and every cubin's kernels found, or refused by InputError.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "raddle/base/error.h"
#include "raddle/fatbin/cubin.h"
#include "raddle/fatbin/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace raddle::fatbin;
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
