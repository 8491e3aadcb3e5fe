// Which program this is: its release and its sources, as every result, page and document tells it.
#pragma once
#include <string>
#include <string_view>

namespace raddle::sim {

/// Over the contents of all sources that can change what a simulation computes, 16 hexadecimal
/// digits: every room but lab, report and cli, and the workloads (generated while building, see
/// cmake/generated.cmake). It needs no version control: an unpacked archive has the same.
std::string_view sources_hash();

/// "0.1.0+1f0c...": the release and sources_hash(), with ".<hash>" for each plug-in
/// (policy/plugins.h), so that results made with another one are other results.
std::string version();

}  // namespace raddle::sim
