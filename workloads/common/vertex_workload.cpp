#include "common/vertex_workload.h"

#include <array>

namespace raddle::workloads {

namespace {

constexpr std::array<std::string_view, 2> kEntries = {"by_column", "by_row"};

bool is_triangle(GraphKind kind) {
  return kind == GraphKind::Condmat || kind == GraphKind::Olesnik;
}

}  // namespace

VertexWorkload::VertexWorkload(std::uint32_t iterations, std::string_view iterations_doc)
    : iterations_(iterations), iterations_doc_(iterations_doc) {
  graph_choice_.kind = GraphKind::Condmat;
}

void VertexWorkload::set_size(runtime::Size size) {
  // IKRA's graph is small enough to be the small size too.
  bool tiny = size == runtime::Size::Tiny;
  graph_choice_.vertices = tiny ? 260 : 16'726;
  graph_choice_.edges = tiny ? 740 : 47'594;
}

void VertexWorkload::visit(FieldVisitor& v) {
  graph_choice_.visit(v);
  v.choice("entries", entries_, kEntries,
           "condmat and olesnik: how an entry (i, j) of the stored triangle, j <= i, is read. "
           "by_column: the edge j -> i, by_row: i -> j");
  v.field("iterations", iterations_, {1, 1'000'000}, "rounds", iterations_doc_);
  v.field("block", block_, {1, 1024}, "threads", "threads per block");
}

Rng VertexWorkload::make_graph(std::uint64_t seed, std::string_view path) {
  Rng rng(seed, path);
  graph_ = graph_choice_.make(rng);
  if (is_triangle(graph_choice_.kind) && entries_ == Entries::ByColumn) graph_ = transposed(graph_);
  inputs_.add(graph_.row, graph_.column);
  return rng;
}

void VertexWorkload::launch(runtime::Device& device, runtime::KernelId kernel,
                            const runtime::Arguments& arguments) const {
  device.launch(kernel, {blocks_for(vertices(), block_)}, {block_}, arguments);
}

}  // namespace raddle::workloads
