// Host code of mis: a round takes the local minima of random values into the set. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/draw.h"
#include "common/vertex_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

class Mis final : public VertexWorkload {
 public:
  Mis() : VertexWorkload(1'000'000, "most rounds; it ends when all vertices are decided") {}

  void run(Device& device, std::uint64_t seed) override {
    Rng rng = make_graph(seed, "mis/graph");
    value_ = permutation(vertices(), rng);
    inputs_.add(value_);
    ModuleId module = load_module(device, "mis");
    KernelId find = device.kernel(module, "mis_least"), join = device.kernel(module, "mis_join");
    KernelId update_kernel = device.kernel(module, "mis_update");
    const std::uint32_t n = vertices();
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint32_t> value(device, value_), decided(device, n), update(device, n);
    DeviceArray<std::uint32_t> minimum(device, n), in_set(device, n);
    launch(device, device.kernel(module, "mis_start"),
           Arguments(decided.address(), update.address(), in_set.address(), n));
    rounds_ = repeat(device, [&](std::uint32_t, Address more) {
      launch(device, find,
             Arguments(row.address(), column.address(), value.address(), decided.address(),
                       minimum.address(), more, n));
      launch(device, join,
             Arguments(row.address(), column.address(), value.address(), decided.address(),
                       minimum.address(), update.address(), in_set.address(), n));
      launch(device, update_kernel, Arguments(update.address(), decided.address(), n));
    });
    decided_ = decided.download();
    in_set_ = in_set.download();
  }

  // Exact: a round looks at what was decided before it alone.
  std::string check() override {
    std::vector<std::uint32_t> in_set(vertices(), 0), decided(vertices(), 0), before;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      before = decided;
      for (std::uint32_t v = 0; v < vertices(); ++v) {
        if (before[v] != 0 || !is_least(v, before)) continue;
        in_set[v] = decided[v] = 1;
        for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e)
          decided[graph_.column[e]] = 1;
      }
    }
    if (auto wrong = first_difference("in_set", in_set, in_set_); !wrong.empty()) return wrong;
    return first_difference("decided", decided, decided_);
  }

 private:
  bool is_least(std::uint32_t v, const std::vector<std::uint32_t>& decided) const {
    return std::all_of(graph_.column.begin() + graph_.row[v],
                       graph_.column.begin() + graph_.row[v + 1], [&](std::uint32_t neighbour) {
                         return decided[neighbour] != 0 || value_[neighbour] >= value_[v];
                       });
  }

  std::uint32_t rounds_ = 0;
  std::vector<std::uint32_t> value_, in_set_, decided_;
};

}  // namespace

void add_workload_mis(Workloads& w) {
  w.add<Mis>("mis", "maximal independent set by rounds of local minima of random values");
}

}  // namespace raddle::runtime
