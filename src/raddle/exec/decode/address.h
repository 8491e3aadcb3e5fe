// Addresses of memory instructions: [register + offset], [variable], [number].
#pragma once
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

/// The space that an instruction names; Generic: none.
ptx::Space space_of(const ptx::Instruction& inst);
/// Of an address operand in that space. Offsets have 32 bits, and addresses of generic and global
/// memory 64; a variable lies there.
SlowAddress address_of(DecodeContext& ctx, ptx::Space space, const ptx::Operand& operand);
/// In the space that the instruction names.
SlowAddress address_of(DecodeContext& ctx, const ptx::Instruction& inst,
                       const ptx::Operand& operand);
/// The same where only global, shared and generic memory can be accessed.
SlowAddress slow_address(DecodeContext& ctx, ptx::Space space, const ptx::Operand& operand);
SlowAddress slow_address(DecodeContext& ctx, const ptx::Instruction& inst,
                         const ptx::Operand& operand);

}  // namespace raddle::exec
