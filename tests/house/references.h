// What sources, machine files, experiments and documents refer to must be there: documents of this
// repository by their path, and codes of docs/mechanisms ("A-I10", an open point of a paper;
// "U-C1", a worked example) by an entry there.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "house/rules.h"

namespace raddle::house {

/// Codes of the tables in a page of docs/mechanisms: the first cells of their rows.
std::set<std::string> codes_of(const std::string& page);

/// References of `file` that lead nowhere. A path ending in .md that begins with "docs/", or in a
/// file below docs a link, must exist; a bare name of a document must be of one beside the file, or
/// at the root.
Findings dangling_references(const SourceFile& file, const std::set<std::string>& codes,
                             const std::function<bool(const std::string& path)>& exists);

/// Sources that a page names in code spans, such as "`timing/sm/lsu.h`", and that are not there.
/// `is_end_of_path` says whether some file's path is the name or ends in "/" and the name. A name
/// with <...> or * stands for several and is not looked at.
Findings missing_sources(const SourceFile& page,
                         const std::function<bool(const std::string& name)>& is_end_of_path);

}  // namespace raddle::house
