// Files that are there whole or not at all.
#pragma once
#include <string>
#include <string_view>

namespace raddle {

/// Writes `text` to a temporary file beside `file`, then renames it: whoever reads `file` finds the
/// old content or the new, never a part. A device or a pipe is written to as it is. Throws RunError
/// with the system's reason; nothing is left behind then.
void write_file(const std::string& file, std::string_view text);

}  // namespace raddle
