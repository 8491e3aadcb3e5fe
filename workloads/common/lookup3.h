// Bob Jenkins' lookup3 hash, as memcached uses it.
#pragma once
#include <cstdint>
#include <string_view>

namespace raddle::workloads {

/// hashlittle(text, text.size(), 0) of lookup3.c (burtleburtle.net/bob/c/lookup3.c, 2006).
std::uint32_t lookup3(std::string_view text);

}  // namespace raddle::workloads
