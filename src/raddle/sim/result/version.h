// Which program this is: its release and its sources, as every result, page and document tells it.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace raddle::sim {

/// Over the contents of all sources that can change what a simulation computes, 16 hexadecimal
/// digits: every room but lab, report and cli, and the workloads (generated while building, see
/// cmake/generated.cmake). It needs no version control: an unpacked archive has the same.
std::string_view sources_hash();

/// The same sources in parts, so that a result outlives changes of policies and workloads that it
/// has not used.
struct SourceHashes {
  std::string core;                          ///< all but policies and workloads
  std::map<std::string, std::string> parts;  ///< "warp/gto", "workload/bfs"
};
SourceHashes source_hashes();

/// ".1f0c..." for each plug-in of policies (policy/plugins.h), over its content.
std::string plugins_hash();

/// "0.1.0+1f0c...": the release and sources_hash(), and plugins_hash().
std::string version();

}  // namespace raddle::sim
