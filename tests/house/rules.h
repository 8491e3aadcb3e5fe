// The rules that sources must keep (docs/architecture.md, "Rooms"): who may include whom, who may
// print.
#pragma once
#include <string>
#include <vector>

#include "house/source_text.h"

namespace raddle::house {

/// One sentence per offence, beginning with file:line.
using Findings = std::vector<std::string>;

/// The room a source lies in or an include points to: src/raddle/<room>/..., raddle/<room>/...,
/// workloads/...; "" = none
/// of ours.
std::string room_of(const std::string& path);

/// Arrows of the dependency rule that `file` breaks.
Findings forbidden_includes(const SourceFile& file);

/// Of a file in a room that is divided into layers (the table in rules.cpp): includes that do not
/// lead from a folder to a lower layer, and files in no layer. Folders of one layer do not see each
/// other.
Findings forbidden_layers(const SourceFile& file);

/// Of a file in src/raddle/timing: the whole machine (MachineSpec) where a component must take its
/// own part of it (timing/spec/parts.h). Only spec and gpu see the whole; the rest of what still
/// does is listed in rules.cpp, and the list only shrinks.
Findings whole_machine(const SourceFile& file);

/// Output to the terminal from a room other than report and cli. The last words of a failed
/// assertion (base/error.cpp) are the one exception.
Findings forbidden_output(const SourceFile& file);

/// Headers without #pragma once, marks of unfinished work, `using namespace` in headers of src/,
/// prefetching that the compiler may remove (base/prefetch.h), sorts that clang refuses
/// (base/stable_sort.h), comments of nothing but dashes.
Findings untidiness(const SourceFile& file);

}  // namespace raddle::house
