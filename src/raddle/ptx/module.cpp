#include "raddle/ptx/module.h"

#include <cstring>
#include <utility>

#include "raddle/ptx/parser.h"

namespace raddle::ptx {
namespace {

// Text with a NUL byte is an object file, a fatbin or a truncated download.
void refuse_binary(const std::string& text, const std::string& file) {
  const void* nul = std::memchr(text.data(), 0, text.size());
  if (nul == nullptr) return;
  const auto at = static_cast<std::size_t>(static_cast<const char*>(nul) - text.data());
  throw InputError(Place{file, 0, 0},
                   "not PTX text: byte " + std::to_string(at) + " is zero; is this a binary file?");
}

}  // namespace

std::string Instruction::text() const {
  // The views point into the module's text, where the words stand side by side (or with blanks
  // before a dot).
  const char* const start = opcode.data();
  const char* at = start + opcode.size();
  for (;;) {
    const char* ahead = at;
    while (*ahead == ' ' || *ahead == '\t') ++ahead;
    if (*ahead != '.') break;
    for (++ahead; is_name_character(*ahead) || (ahead[0] == ':' && ahead[1] == ':');)
      ahead += *ahead == ':' ? 2 : 1;
    at = ahead;
  }
  return {start, static_cast<std::size_t>(at - start)};
}

const Function* Module::find_entry(std::string_view name) const {
  for (const Function& function : functions)
    if (function.is_entry && function.name == name) return &function;
  return nullptr;
}

Module parse(std::string text, std::string file) {
  constexpr std::size_t kMaxText = std::size_t{256} << 20;
  if (text.size() > kMaxText)
    throw InputError(Place{file, 0, 0}, "larger than 256 MiB: this is not a PTX module");
  refuse_binary(text, file);
  Module module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.file = std::move(file);
  ModuleParser(module).parse();
  return module;
}

}  // namespace raddle::ptx
