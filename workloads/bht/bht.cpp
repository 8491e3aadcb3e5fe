// Host code of bht: forces between bodies by the tree code of Barnes and Hut. See README.md.
#include <cmath>

#include "bht/octree.h"
#include "common/child_launches.h"
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {
namespace {

using namespace workloads;

class Bht final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, children_.parent.block, {64, 128, 128});
    by_size(size, children_.child_block, {32, 64, 64});
    by_size(size, children_.threshold, {16, 64, 64});
    by_size(size, bodies_, {96, 28'672, 65'536});
  }

  void visit(FieldVisitor& v) override {
    v.field("bodies", bodies_, {1, 1u << 20}, "bodies", "uniform in a cube");
    v.field("leaf", leaf_, {1, 64}, "bodies", "most in a leaf of the tree");
    v.field("angle", angle_, {0.1, 10}, "",
            "a cell is opened by bodies nearer than its width / angle");
    v.field("levels", levels_, {1, 8}, "levels", "below the root at which children begin");
    children_.visit(v, "bodies", "in an opened cell from which on a child walks it");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all = children_.violations();
    if (children_.parent.block % children_.child_block != 0)
      all.push_back("block must be a multiple of child_block = " +
                    std::to_string(children_.child_block) + ", the bodies of a group");
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    Rng rng(seed, "bht/bodies");
    tree_ = make_octree(bodies_, leaf_, rng);
    groups_ = make_groups(tree_, children_.child_block);
    inputs_.add(tree_.body, angle_);
    children_.parent.ask_for_launches(device, max_launches());
    DeviceArray<Mass> body(device, tree_.body), group(device, groups_);
    DeviceArray<TreeCell> cell(device, tree_.cell);
    DeviceArray<float> force(device, 3 * std::size_t{bodies_});
    force.set_bytes(0);
    Arguments arguments(body.address(), cell.address(), group.address(), force.address(),
                        static_cast<std::uint32_t>(tree_.cell.size()));
    if (children_.nested()) arguments.add(std::ldexp(1.0f, -static_cast<int>(levels_)));
    arguments.add(bodies_);
    arguments.add(reach());
    if (children_.nested()) arguments.add(children_.threshold);
    arguments.add(children_.child_block);
    const ModuleId module = load_module(device, "bht");
    device.launch(device.kernel(module, children_.nested() ? "bht_bodies" : "bht_bodies_flat"),
                  {children_.parent.blocks(bodies_)}, {children_.parent.block}, arguments);
    device.synchronize();
    force_ = force.download();
  }

  // A term errs by a few of its own roundings, of the difference, the square, the root; the sum by
  // one for each term and for each child that adds its part.
  std::string check() override {
    std::vector<Sum> expected(bodies_);
    for (std::uint32_t b = 0; b < bodies_; ++b) expected[b] = force_on(b);
    for (int axis = 0; axis < 3; ++axis)
      for (std::uint32_t b = 0; b < bodies_; ++b) {
        const double want = expected[b].force[axis];
        const double got = static_cast<double>(force_[axis * std::size_t{bodies_} + b]);
        const double allowed = chained_error(2 * expected[b].terms + 32) * expected[b].size[axis];
        if (!(std::abs(got - want) <= allowed))
          return difference_text("force", axis * std::size_t{bodies_} + b, want, got, allowed);
      }
    return "";
  }

 private:
  struct Sum {
    double force[3] = {}, size[3] = {};  // size: of the absolute terms
    double terms = 0;
  };

  float reach() const { return static_cast<float>(1 / angle_); }

  static void attract(const Mass& here, const Mass& mass, Sum& sum) {
    const double d[3] = {static_cast<double>(mass.x) - static_cast<double>(here.x),
                         static_cast<double>(mass.y) - static_cast<double>(here.y),
                         static_cast<double>(mass.z) - static_cast<double>(here.z)};
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-4;
    for (int axis = 0; axis < 3; ++axis) {
      const double term = d[axis] * static_cast<double>(mass.w) / (square * std::sqrt(square));
      sum.force[axis] += term;
      sum.size[axis] += std::abs(term);
    }
    ++sum.terms;
  }

  // The cells its group takes, without any children.
  Sum force_on(std::uint32_t b) const {
    Sum sum;
    const Mass& here = tree_.body[b];
    for (std::uint32_t at = 1; at < tree_.cell.size();) {
      const TreeCell& cell = tree_.cell[at];
      const bool far = is_far(cell, groups_[b / children_.child_block], reach());
      const bool leaf = cell.skip == at + 1;
      if (far) attract(here, cell.mass, sum);
      if (!far && leaf)
        for (std::uint32_t other = 0; other < cell.bodies; ++other)
          attract(here, tree_.body[cell.first_body + other], sum);
      at = far || leaf ? cell.skip : at + 1;
    }
    return sum;
  }

  // Opened cells that may go to a child, of all groups.
  std::uint64_t max_launches() const {
    std::uint64_t sum = 0;
    for (const Mass& group : groups_)
      for (std::uint32_t at = 1; at < tree_.cell.size();) {
        const TreeCell& cell = tree_.cell[at];
        const bool taken = is_far(cell, group, reach()) || cell.skip == at + 1;
        sum += !taken && cell.bodies >= children_.threshold ? 1 : 0;
        at = taken ? cell.skip : at + 1;
      }
    return sum;
  }

  std::uint32_t bodies_ = 0, leaf_ = 8, levels_ = 1;
  double angle_ = 1.2;
  ChildLaunches children_;
  Octree tree_;
  std::vector<Mass> groups_;
  std::vector<float> force_;
};

}  // namespace

void add_workload_bht(Workloads& w) {
  w.add<Bht>("bht", "Barnes-Hut forces; children walk the sub-trees of near cells");
}

}  // namespace raddle::runtime
