// libFuzzer target: linking. The input is several PTX texts, divided by lines "####". Invariant:
// any texts are linked or refused by InputError, and what is linked can be decoded or refused.
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/exec/decode/program.h"
#include "raddle/ptx/link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<raddle::ptx::SourceText> sources;
  for (std::size_t end = 0; end != std::string_view::npos && sources.size() < 4;) {
    end = rest.find("\n####\n");
    sources.push_back(
        {std::string(rest.substr(0, end)), "part" + std::to_string(sources.size()) + ".ptx"});
    if (end != std::string_view::npos) rest.remove_prefix(end + 6);
  }
  try {
    const raddle::ptx::Module module = raddle::ptx::parse_and_link(std::move(sources));
    raddle::exec::unsupported(module);
  } catch (const raddle::InputError&) {
  }
  return 0;
}
