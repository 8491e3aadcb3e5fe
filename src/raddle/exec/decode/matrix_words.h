// All words of an instruction's name: shapes and elements are no types of PTX, and the parser keeps
// types and the other words apart.
#pragma once
#include <string>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::exec {

/// The opcode and what follows its dots, in order.
std::vector<std::string> dotted_words(const ptx::Instruction& inst);

}  // namespace raddle::exec
