// Copies of tensors' boxes, whose opcode the bulk copies share.
#pragma once
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

void decode_tensor_copy(DecodeContext& ctx, const ptx::Instruction& inst);

}  // namespace raddle::exec
