// The dotted words of an instruction that names shapes and elements, which are no types of PTX.
#pragma once
#include <string>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::exec {

std::vector<std::string> dotted_words(const ptx::Instruction& inst);

}  // namespace raddle::exec
