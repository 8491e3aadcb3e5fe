// Host code of nested_coloring: a round gives the local maxima of random values a colour. See
// README.md.
#include "common/compare.h"
#include "common/draw.h"
#include "common/nested_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kUncolored = ~0u;  // as in kernels.cu

// As many as the largest graph has vertices: in the first round all long rows pend.
constexpr std::uint32_t kMaxPending = 262'144;

class NestedColoring final : public NestedWorkload {
 public:
  NestedColoring() : NestedWorkload(128, kMaxPending) {}

  void set_size(Size size) override {
    NestedWorkload::set_size(size);
    rounds_ = size == Size::Tiny ? 4 : 5;
  }

  void visit(FieldVisitor& v) override {
    NestedWorkload::visit(v);
    v.field("rounds", rounds_, {1, 1'000'000}, "rounds",
            "most rounds; it ends when all vertices have a colour");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "nested_coloring");
    KernelId scan = parent_kernel(device, module, "nested_coloring_scan");
    KernelId assign = device.kernel(module, "nested_coloring_assign");
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint32_t> value(device, value_), greatest(device, vertices());
    DeviceArray<std::uint32_t> color(device, std::vector<std::uint32_t>(vertices(), kUncolored));
    DeviceArray<std::uint32_t> more(device, 1);
    bool left = true;
    for (done_ = 0; left && done_ < rounds_; ++done_) {
      more.upload({0});
      launch_parent(device, scan, vertices(),
                    Arguments(row.address(), column.address(), color.address(), value.address(),
                              greatest.address(), vertices()));
      launch(device, assign, vertices(),
             Arguments(value.address(), greatest.address(), color.address(), more.address(), done_,
                       vertices()));
      device.synchronize();
      left = more.download()[0] != 0;
    }
    color_ = color.download();
  }

  // Exact: a round looks at the colours before it alone.
  std::string check() override {
    std::vector<std::uint32_t> expected(graph_.vertices(), kUncolored), before;
    for (std::uint32_t round = 0; round < done_; ++round) {
      before = expected;
      for (std::uint32_t v = 0; v < graph_.vertices(); ++v)
        if (before[v] == kUncolored && is_greatest(v, before)) expected[v] = round;
    }
    return first_difference("color", expected, color_);
  }

 private:
  void make_input(std::uint64_t seed) {
    make_graph(seed);
    Rng rng(seed, "nested_coloring/values");
    value_ = permutation(vertices(), rng);
    for (std::uint32_t& value : value_) ++value;  // 0 is none
    inputs_.add(value_);
  }

  bool is_greatest(std::uint32_t v, const std::vector<std::uint32_t>& color) const {
    for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
      const std::uint32_t neighbour = graph_.column[e];
      if (color[neighbour] == kUncolored && value_[neighbour] > value_[v]) return false;
    }
    return true;
  }

  std::uint32_t rounds_ = 0, done_ = 0;
  std::vector<std::uint32_t> value_, color_;
};

}  // namespace

void add_workload_nested_coloring(Workloads& w) {
  w.add<NestedColoring>("nested_coloring", "graph colouring whose long rows are child kernels");
}

}  // namespace raddle::runtime
