// Host code of coloring: a round gives the local extremes of random values a colour. See README.md.
#include <array>

#include "common/compare.h"
#include "common/draw.h"
#include "common/vertex_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kUncolored = ~0u;  // as in kernels.cu

enum class Variant : std::uint8_t { Max, MaxMin };
constexpr std::array<std::string_view, 2> kVariants = {"max", "max_min"};

class Coloring final : public VertexWorkload {
 public:
  Coloring() : VertexWorkload(1'000'000, "most rounds; it ends when no neighbours are left") {}

  void visit(FieldVisitor& v) override {
    VertexWorkload::visit(v);
    v.choice("variant", variant_, kVariants,
             "a round colours local maxima, or maxima and minima with a colour each");
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng = make_graph(seed, "coloring/graph");
    value_ = permutation(vertices(), rng);
    inputs_.add(value_);
    // The matrix's entries are part of what the original holds; its kernels do not read them.
    std::vector<float> entries(graph_.column.size(), 1);
    inputs_.add(entries);
    ModuleId module = load_module(device, "coloring");
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<float> entry(device, entries);
    DeviceArray<std::uint32_t> value(device, value_), greatest(device, vertices());
    DeviceArray<std::uint32_t> color(device, std::vector<std::uint32_t>(vertices(), kUncolored));
    DeviceArray<std::uint32_t> minimum(device, both() ? vertices() : 0);
    KernelId extremes = device.kernel(module, both() ? "coloring_max_min" : "coloring_max");
    KernelId assign =
        device.kernel(module, both() ? "coloring_assign_max_min" : "coloring_assign_max");
    rounds_ = repeat(device, [&](std::uint32_t round, Address more) {
      Arguments find(row.address(), column.address(), value.address(), color.address(),
                     greatest.address());
      Arguments give(value.address(), color.address(), greatest.address());
      if (both()) {
        find.add(minimum.address());
        give.add(minimum.address());
      }
      find.add(more);
      find.add(vertices());
      give.add(round * colors_each());
      give.add(vertices());
      launch(device, extremes, find);
      launch(device, assign, give);
    });
    color_ = color.download();
  }

  // Exact: a round looks at the colours before it alone.
  std::string check() override {
    std::vector<std::uint32_t> expected(vertices(), kUncolored), before;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      before = expected;
      for (std::uint32_t v = 0; v < vertices(); ++v)
        if (before[v] == kUncolored) expected[v] = color_in(round, v, before);
    }
    return first_difference("color", expected, color_);
  }

 private:
  bool both() const { return variant_ == Variant::MaxMin; }
  std::uint32_t colors_each() const { return both() ? 2 : 1; }

  std::uint32_t color_in(std::uint32_t round, std::uint32_t v,
                         const std::vector<std::uint32_t>& color) const {
    bool greatest = true, minimum = true;
    for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
      std::uint32_t neighbour = graph_.column[e];
      if (color[neighbour] == kUncolored) {
        greatest = greatest && value_[neighbour] <= value_[v];
        minimum = minimum && value_[neighbour] >= value_[v];
      }
    }
    if (greatest) return round * colors_each();
    return both() && minimum ? round * colors_each() + 1 : kUncolored;
  }

  Variant variant_ = Variant::MaxMin;
  std::uint32_t rounds_ = 0;
  std::vector<std::uint32_t> value_, color_;
};

}  // namespace

void add_workload_coloring(Workloads& w) {
  w.add<Coloring>("coloring", "graph colouring by rounds of local extremes of random values");
}

}  // namespace raddle::runtime
