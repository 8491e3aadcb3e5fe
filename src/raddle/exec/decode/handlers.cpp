#include "raddle/base/error.h"
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

void Handlers::add(std::initializer_list<std::string_view> opcodes, Handler handler) {
  for (const std::string_view opcode : opcodes) {
    Entry& entry = by_opcode_[opcode];
    RADDLE_ASSERT(entry.all == nullptr);  // two families decode one opcode
    entry.all = handler;
  }
}

void Handlers::add_float(std::initializer_list<std::string_view> opcodes, Handler handler) {
  for (const std::string_view opcode : opcodes) {
    Entry& entry = by_opcode_[opcode];
    RADDLE_ASSERT(entry.of_float == nullptr);  // two families decode one opcode
    entry.of_float = handler;
  }
}

Handler Handlers::find(const ptx::Instruction& inst) const {
  const auto found = by_opcode_.find(inst.opcode);
  if (found == by_opcode_.end()) return nullptr;
  const Entry& entry = found->second;
  if (entry.of_float != nullptr && !inst.types.empty() && ptx::is_float(inst.types[0]))
    return entry.of_float;
  return entry.all;
}

}  // namespace raddle::exec
