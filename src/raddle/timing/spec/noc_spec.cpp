#include "raddle/timing/spec/noc_spec.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "raddle/timing/spec/machine.h"
#include "raddle/timing/spec/packet_size.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
// Arrivals are kept in words of 64 cycles.
constexpr std::uint32_t kLongestNocWire = 32;
constexpr std::uint32_t kLargestRatio = 8;  // between the clocks of network and core
constexpr std::array<std::string_view, 2> kTopologyNames = {"crossbar", "mesh"};

/// One number from the front of `text`.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}

void check_crossbar(const NocSpec& noc, SpecRules& r) {
  bool mesh = noc.topology == Topology::Mesh;
  r.require(!mesh || noc.sms_per_port == 1, "noc.sms_per_port is for a crossbar; a mesh needs 1",
            {{"noc.sms_per_port", noc.sms_per_port}});
  r.require(!mesh || noc.input_speedup == 1, "noc.input_speedup is for a crossbar; a mesh needs 1",
            {{"noc.input_speedup", noc.input_speedup}});
}

void check_nodes(std::string_view key, const std::string& whose, const std::string& text,
                 unsigned nodes, unsigned count, SpecRules& r) {
  auto list = read_nodes(text, nodes, count);
  std::string name = "noc.mesh." + std::string(key) + " must ";
  r.require(list.has_value(), name + "list nodes of the mesh like 0-3,7",
            {{"number of nodes", nodes}});
  r.require(!list || list->size() >= count, name + "have a node for each " + whose,
            {{"nodes listed", list ? list->size() : 0}, {"needed", count}});
}

void check_mesh(const MachineSpec& machine, SpecRules& rules) {
  const MeshSpec& mesh = machine.noc.mesh;
  unsigned nodes = mesh.columns * mesh.rows;
  rules.require(nodes <= kMaxMeshNodes, "noc.mesh.columns x noc.mesh.rows must not exceed 1024",
                {{"noc.mesh.columns", mesh.columns}, {"noc.mesh.rows", mesh.rows}});
  if (nodes > kMaxMeshNodes) return;
  check_nodes("sm_nodes", "SM", mesh.sm_nodes, nodes, machine.sm.count, rules);
  check_nodes("slice_nodes", "L2 slice", mesh.slice_nodes, nodes, machine.l2.slices, rules);
  check_nodes("memory_nodes", "memory channel", mesh.memory_nodes, nodes, machine.dram.channels,
              rules);
  std::vector<unsigned> sms_at(nodes);
  std::vector<unsigned> slices_at(nodes);
  std::vector<unsigned> both_at(nodes);
  const auto settle = [&](const std::string& text, unsigned count, std::vector<unsigned>& at) {
    const auto list = read_nodes(text, nodes, count).value_or(std::vector<std::uint16_t>{});
    for (unsigned i = 0; i < std::min<std::size_t>(list.size(), count); ++i) {
      ++at[list[i]];
      both_at[list[i]] += machine.coherence.ownership;  // both send and receive in the reply mesh
    }
  };
  settle(mesh.sm_nodes, machine.sm.count, sms_at);
  settle(mesh.slice_nodes, machine.l2.slices, slices_at);
  const auto largest = [](const std::vector<unsigned>& at) {
    return *std::max_element(at.begin(), at.end());
  };
  for (auto [key, maximum] : {std::pair{"SMs at one node", largest(sms_at)},
                              {"L2 slices at one node", largest(slices_at)},
                              {"SMs and L2 slices at one node", largest(both_at)}})
    rules.require((MeshSpec::kDirections + maximum) * mesh.virtual_channels <= 64,
                  "(4 + endpoints of one node) x noc.mesh.virtual_channels must not exceed 64",
                  {{key, maximum}, {"noc.mesh.virtual_channels", mesh.virtual_channels}});
}
}  // namespace

std::optional<std::vector<std::uint16_t>> read_nodes(const std::string& text, unsigned nodes,
                                                     unsigned count) {
  std::vector<std::uint16_t> out;
  if (text.empty())
    for (unsigned i = 0; i < count; ++i)
      out.push_back(static_cast<std::uint16_t>(i * nodes / count));
  for (std::string_view rest = text; !rest.empty();) {
    std::optional<unsigned> first = take_number(rest), last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_number(rest);
    }
    if (!first || !last || *first > *last || *last >= nodes) return {};
    for (unsigned n = *first; n <= *last; ++n) out.push_back(static_cast<std::uint16_t>(n));
    if (rest.empty()) break;
    if (!rest.starts_with(',') || rest.size() == 1) return {};
    rest.remove_prefix(1);
  }
  return out;
}

std::array<unsigned, MeshSpec::kDirections> next_to(unsigned node, unsigned columns,
                                                    unsigned rows) {
  const unsigned x = node % columns, y = node / columns;
  return {x + 1 < columns ? node + 1 : kNoNode, x > 0 ? node - 1 : kNoNode,
          y + 1 < rows ? node + columns : kNoNode, y > 0 ? node - columns : kNoNode};
}

std::vector<MeshLink> mesh_links(unsigned columns, unsigned rows) {
  std::vector<MeshLink> out;
  for (unsigned node = 0; node < columns * rows; ++node)
    for (const unsigned to : next_to(node, columns, rows))
      if (to != kNoNode)
        out.push_back({static_cast<std::uint16_t>(node), static_cast<std::uint16_t>(to)});
  return out;
}

void MeshSpec::visit(FieldVisitor& v) {
  v.field("columns", columns, R{1, kMaxMeshSide}, "", "routers of a row");
  v.field("rows", rows, R{1, kMaxMeshSide}, "", "routers of a column");
  v.field("router_cycles", router_cycles, R{1, 16}, "cycles",
          "network cycles from arrival of a flit at a router to its departure");
  v.field("channel_cycles", channel_cycles, R{1, 8}, "cycles",
          "network cycles of a link between routers; a credit takes as long");
  v.field("virtual_channels", virtual_channels, R{1, 8}, "", "virtual channels of each link");
  v.field("vc_flits", vc_flits, R{1, 64}, "flits", "buffer of a virtual channel at its receiver");
  v.field(
      "sm_nodes", sm_nodes,
      "node (row x columns + column) of each SM, as 0-3,7; more are ignored; empty: spread evenly");
  v.field("slice_nodes", slice_nodes, "node of each L2 slice, likewise");
  v.field("memory_nodes", memory_nodes,
          "node of each memory channel's controller, likewise; empty: at its slices' nodes");
}

void NocSpec::visit(FieldVisitor& v) {
  v.choice("topology", topology, kTopologyNames,
           "shape of each of the two networks (requests, replies)");
  v.field("latency_cycles", latency_cycles, R{1, kLongestNocWire}, "cycles",
          "of each link between an endpoint and a network, each way");
  v.field("clock_mhz", clock_mhz, R{0, 10000}, "MHz", "clock of the networks, 0 = core_clock_mhz");
  v.field("flit_bytes", flit_bytes, R{8, 256}, "bytes", "what a port moves in one network cycle");
  v.field("header_bytes", header_bytes, R{1, 64}, "bytes", "address and command of a packet");
  v.field("queue_flits", queue_flits, R{1, 255}, "flits",
          "queue at the receiving end of each link to or from a network");
  v.field("sms_per_port", sms_per_port, R{1, 64}, "",
          "neighbouring SMs that share one port of a crossbar");
  v.field("input_speedup", input_speedup, R{1, 4}, "",
          "packets that may leave one input of a crossbar at once");
  v.nested("mesh", mesh, "2-D mesh, for topology = mesh");
}

void check_noc(const MachineSpec& m, SpecRules& r) {
  const NocSpec& noc = m.noc;
  r.require(noc.latency_cycles + m.dispatch_latency_cycles <= 64,
            "noc.latency_cycles + dispatch_latency_cycles must not exceed 64",
            {{"noc.latency_cycles", noc.latency_cycles},
             {"dispatch_latency_cycles", m.dispatch_latency_cycles}});
  const PacketSize size{noc.flit_bytes, noc.header_bytes, m.l2.sector_bytes, m.core_rank_bytes};
  const unsigned largest = size.max_flits(m.l2.line_bytes);
  r.require(noc.queue_flits >= largest,
            m.core_rank_bytes == 0
                ? "noc.queue_flits must hold the largest packet (header_bytes and a whole line)"
                : "noc.queue_flits must hold the largest packet (header_bytes, a whole line, and a "
                  "byte that policy.dram.name adds to requests)",
            {{"noc.queue_flits", noc.queue_flits},
             {"noc.flit_bytes", noc.flit_bytes},
             {"noc.header_bytes", noc.header_bytes},
             {"l2.line_bytes", m.l2.line_bytes}});
  r.require(largest <= kMaxFlits, "a packet with a whole line must not exceed 32 flits",
            {{"noc.flit_bytes", noc.flit_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(noc.clock_mhz == 0 || (noc.clock_mhz <= kLargestRatio * m.core_clock_mhz &&
                                   m.core_clock_mhz <= kLargestRatio * noc.clock_mhz),
            "noc.clock_mhz must be 0 or within a factor of 8 of core_clock_mhz",
            {{"noc.clock_mhz", noc.clock_mhz}, {"core_clock_mhz", m.core_clock_mhz}});
  check_crossbar(noc, r);
  if (noc.topology == Topology::Mesh) check_mesh(m, r);
}

}  // namespace raddle::timing
