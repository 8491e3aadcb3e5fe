// The interconnect as numbers: table [noc] of a machine file. Cycles are core-clock cycles unless a
// field says otherwise.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

/// Routers of a mesh, and of its rows and columns, at most.
inline constexpr std::uint32_t kMaxMeshNodes = 1024, kMaxMeshSide = 255;

enum class Topology : std::uint8_t { Crossbar, Mesh };

/// Node r * columns + c is in row r (0 at the top) and column c.
struct MeshSpec {
  static constexpr unsigned kDirections = 4;  ///< neighbours of a node: east, west, south, north
  std::uint32_t columns = 8, rows = 8;
  std::uint32_t router_cycles = 2, channel_cycles = 1;  ///< network cycles
  std::uint32_t virtual_channels = 4, vc_flits = 8;
  std::string sm_nodes, slice_nodes;  ///< "0-3,7", the first ones count; empty = spread evenly
  std::string memory_nodes;  ///< of each channel's controller; empty = at each of its slices
  /// Links between two nodes.
  unsigned hops(unsigned from, unsigned to) const {
    const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
    return apart(from % columns, to % columns) + apart(from / columns, to / columns);
  }
  void visit(FieldVisitor& v);
};

/// Beyond the edge of a mesh.
inline constexpr unsigned kNoNode = ~0u;
/// The nodes to the east, west, south and north of one.
std::array<unsigned, MeshSpec::kDirections> next_to(unsigned node, unsigned columns, unsigned rows);

/// From one node to one of its neighbours.
struct MeshLink {
  std::uint16_t from, to;
};
/// All of them, by node and then as next_to().
std::vector<MeshLink> mesh_links(unsigned columns, unsigned rows);

struct NocSpec {
  Topology topology = Topology::Crossbar;
  std::uint32_t latency_cycles = 20;  ///< each way of each link, and the engine's window
  std::uint32_t clock_mhz = 0;        ///< 0 = the core clock
  std::uint32_t flit_bytes = 32, header_bytes = 8;
  std::uint32_t queue_flits = 64;  ///< credits of one sender
  std::uint32_t sms_per_port = 1;  ///< crossbar
  std::uint32_t input_speedup = 1;
  MeshSpec mesh;
  void visit(FieldVisitor& v);
};

/// Reads "0-3,7,12-15"; nothing if it is malformed or a number is not below `nodes`. Empty text
/// deals `count` endpoints out evenly.
std::optional<std::vector<std::uint16_t>> read_nodes(const std::string& text, unsigned nodes,
                                                     unsigned count);

}  // namespace raddle::timing
