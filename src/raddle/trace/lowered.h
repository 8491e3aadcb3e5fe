// What one PTX instruction becomes on a machine. Streams count PTX instructions, so that one
// recording serves every machine; a machine executes the range of its own instructions that belongs
// to each.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/trace/code.h"

namespace raddle::trace {

struct LoweredCode {
  /// Machine instructions, in order; registers_per_thread is the machine's.
  KernelCode code;
  /// PTX instruction i is machine instructions [first[i], first[i + 1]), possibly none; one longer
  /// than the PTX code. What a record of the stream carries (pieces, barrier, sleep) belongs to the
  /// one machine instruction of that range whose kind is the PTX instruction's; all others are Alu
  /// or Branch. A parameter's load may have none: it became an operand or a move.
  std::vector<std::uint32_t> first;
  /// Before each machine instruction, 32-bit registers of a thread that hold what it reads later.
  /// Empty: not known, all may.
  std::vector<std::uint32_t> live = {};
};

/// Every instruction as it is: isa.lowering = "ptx".
LoweredCode as_it_is(const KernelCode& code);

}  // namespace raddle::trace
