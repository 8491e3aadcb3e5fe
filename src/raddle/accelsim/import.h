// A kernel's trace becomes a launch: read once, from front to end, everything checked.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "raddle/accelsim/access.h"
#include "raddle/accelsim/kernel_header.h"
#include "raddle/accelsim/launch.h"
#include "raddle/accelsim/text.h"

namespace raddle::accelsim {

/// What was met in traces that the op stream cannot say, by opcode: warp instructions.
struct Notes {
  std::map<std::string, std::uint64_t> unknown;            ///< timed after their operands
  std::map<std::string, std::uint64_t> without_addresses;  ///< memory operations of no effect
  std::map<std::string, std::uint64_t> without_effect;     ///< timed as what takes a turn to issue
  std::uint64_t unended_waits = 0;  ///< for barrier objects that nothing in the trace brings on
  std::set<std::string> rules;      ///< what was taken to be so, where the trace does not say
};

/// Reads a kernel's blocks, after its header. `regions` is the trace's, for all kernels. Throws
/// InputError naming file and line.
std::shared_ptr<Launch> import_launch(Text& text, const KernelHeader& header, Regions& regions,
                                      Notes& notes);

}  // namespace raddle::accelsim
