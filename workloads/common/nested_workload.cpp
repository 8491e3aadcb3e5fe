#include "common/nested_workload.h"

#include <algorithm>
#include <bit>

namespace raddle::workloads {

namespace {

// Threshold and child block by NestedGraph: the K20c's setting of the public programs, but cage15
// has 18 neighbours a vertex and hardly one with 32.
constexpr std::array<std::uint32_t, 3> kChildBlocks = {32, 32, 16};
// Tiny graphs have short rows.
constexpr std::uint32_t kTinyChildBlock = 8;

}  // namespace

std::uint32_t nested_vertices(NestedGraph kind, runtime::Size size) {
  // By NestedGraph and Size.
  constexpr std::array<std::array<std::uint32_t, 3>, 3> kVertices = {{
      {160, 49'152, 268'495},
      {256, 8'192, 65'536},
      {256, 32'768, 262'144},
  }};
  return kVertices[static_cast<std::size_t>(kind)][static_cast<std::size_t>(size)];
}

void NestedWorkload::set_size(runtime::Size size) {
  size_ = size;
  // Tiny graphs have few vertices: several blocks of them.
  parents_.block = size == runtime::Size::Tiny ? 64 : full_block_;
}

std::uint32_t NestedWorkload::vertices() const {
  return vertices_ != 0 ? vertices_ : nested_vertices(kind_, size_);
}

std::uint32_t NestedWorkload::child_block() const {
  if (child_block_ != 0) return child_block_;
  return size_ == runtime::Size::Tiny ? kTinyChildBlock
                                      : kChildBlocks[static_cast<std::size_t>(kind_)];
}

std::uint32_t NestedWorkload::threshold() const {
  return threshold_ != 0 ? threshold_ : child_block();
}

void NestedWorkload::visit(FieldVisitor& v) {
  v.choice("graph", kind_, kNestedGraphNames, "input: stand-in for LaPerm's graph of this name");
  v.field("vertices", vertices_, {0, 1u << 22}, "vertices",
          "number of vertices (graph500: a power of two); 0: what the size has for this graph");
  parents_.visit(v);
  v.field("threshold", threshold_, {0, 1u << 30}, "edges",
          "a row of so many edges or more has a child kernel; 0: as child_block");
  v.field("child_block", child_block_, {0, 1024}, "threads",
          "threads per child block; 0: 32, of cage15 16, of tiny graphs 8");
  v.choice("split", split_, kRowSplitNames,
           "of a row with a child: blocks: its parent does the edges that fill no child block, if "
           "others do; row: all edges are the child's");
}

std::vector<std::string> NestedWorkload::violations() const {
  std::vector<std::string> out = parents_.violations();
  if (vertices() < kMinNestedVertices)
    out.push_back("vertices must be 0 or at least " + std::to_string(kMinNestedVertices) + ", is " +
                  std::to_string(vertices()));
  if (kind_ == NestedGraph::Graph500 && !std::has_single_bit(vertices()))
    out.push_back("vertices of graph500 must be a power of two, is " + std::to_string(vertices()));
  return out;
}

void NestedWorkload::make_graph(std::uint64_t seed) {
  Rng rng(seed, kNestedGraphPath);
  graph_ = make_nested_graph(kind_, vertices(), rng);
  inputs_.add(graph_.row, graph_.column);
}

std::uint32_t NestedWorkload::source() const {
  std::uint32_t maximum = 0;
  for (std::uint32_t v = 0; v < graph_.vertices(); ++v)
    if (graph_.degree(v) > graph_.degree(maximum)) maximum = v;
  return maximum;
}

runtime::KernelId NestedWorkload::parent_kernel(runtime::Device& device, runtime::ModuleId module,
                                                std::string_view name) const {
  parents_.ask_for_launches(device, vertices(), pending_launches_);
  const char* form = split_ == RowSplit::Row ? "_row" : "";
  return device.kernel(module, std::string(name) + (parents_.nested() ? form : "_flat"));
}

void NestedWorkload::launch(runtime::Device& device, runtime::KernelId kernel, std::uint64_t items,
                            const runtime::Arguments& arguments) const {
  device.launch(kernel, {parents_.blocks(items)}, {parents_.block}, arguments);
}

void NestedWorkload::launch_parent(runtime::Device& device, runtime::KernelId kernel,
                                   std::uint64_t items, runtime::Arguments arguments) const {
  if (parents_.nested()) {
    arguments.add(threshold());
    arguments.add(child_block());
  }
  launch(device, kernel, items, arguments);
}

std::uint32_t DeviceList::size() const {
  const std::uint32_t size = size_.download()[0];
  if (size > capacity())
    throw RunError("the " + std::string(name_) + " has room for " + std::to_string(capacity()) +
                   " words, " + std::to_string(size) + " were wanted");
  return size;
}

void DeviceList::sort(runtime::Device& device, std::uint32_t words) {
  RADDLE_ASSERT(words <= capacity());
  std::vector<std::uint32_t> list(words);
  const std::size_t bytes = words * sizeof(std::uint32_t);
  device.copy_to_host(list.data(), words_.address(), bytes);
  std::sort(list.begin(), list.end());
  device.copy_to_device(words_.address(), list.data(), bytes);
}

}  // namespace raddle::workloads
