// Host code of lavamd: particles in boxes, forces within a box and between neighbours. See
// README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kMaxParticles = 100;  // as in kernels.cu
constexpr double kReach = 0.5;
enum class Sums : std::uint8_t { Registers, Memory };
constexpr std::array<std::string_view, 2> kSums = {"registers", "memory"};
constexpr const char* kKernels[] = {"lavamd", "lavamd_in_memory"};

// As in kernels.cu.
struct Vector {
  double v, x, y, z;
};
struct Neighbor {
  std::int32_t x, y, z, number;
  std::uint64_t first;
};
struct Box {
  std::int32_t x, y, z, number;
  std::uint64_t first;
  std::int32_t neighbors, unused;
  Neighbor neighbor[26];
};
static_assert(sizeof(Box) == 656);

class LavaMd final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    struct Values {
      std::uint32_t side, particles;
    };
    constexpr Values kValues[] = {{2, 3}, {4, 32}, {2, kMaxParticles}};
    const Values& v = kValues[static_cast<std::size_t>(size)];
    side_ = v.side;
    particles_ = v.particles;
  }

  void visit(FieldVisitor& v) override {
    v.field("boxes", side_, {1, 64}, "boxes", "boxes along each of the three axes");
    v.field("particles", particles_, {1, kMaxParticles}, "particles", "particles of a box");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
    v.choice("sums", sums_, kSums,
             "where a particle's force is added up; memory: read and written for each pair");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    KernelId kernel =
        device.kernel(load_module(device, "lavamd"), kKernels[static_cast<std::size_t>(sums_)]);
    DeviceArray<Box> boxes(device, boxes_);
    DeviceArray<Vector> position(device, position_), force(device, position_.size());
    DeviceArray<double> charge(device, charge_);
    force.set_bytes(0);
    device.launch(kernel, {static_cast<std::uint32_t>(boxes_.size())}, {block_},
                  Arguments(boxes.address(), position.address(), charge.address(), force.address(),
                            2 * kReach * kReach, particles_));
    device.synchronize();
    force_ = force.download();
  }

  // Tolerance: a term errs by the roundings of the exponent's argument, which is below 8, and by a
  // few of its own; the sum by one for each term. Relative to the sum of absolute terms.
  std::string check() override {
    double terms = 27.0 * particles_;
    double error = (terms + 64) * 0x1p-53;
    std::vector<Vector> magnitude(position_.size());
    for (std::size_t i = 0; i < position_.size(); ++i) {
      Vector expected = force_on(i, magnitude[i]);
      const double want[] = {expected.v, expected.x, expected.y, expected.z};
      const double size[] = {magnitude[i].v, magnitude[i].x, magnitude[i].y, magnitude[i].z};
      const double got[] = {force_[i].v, force_[i].x, force_[i].y, force_[i].z};
      for (std::size_t c = 0; c < 4; ++c)
        if (!(std::abs(got[c] - want[c]) <= error * size[c]))
          return difference_text("force", 4 * i + c, want[c], got[c], error * size[c]);
    }
    return "";
  }

 private:
  void make_input(std::uint64_t seed) {
    auto side = static_cast<std::int32_t>(side_);
    boxes_.clear();
    for (std::int32_t z = 0; z < side; ++z)
      for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) boxes_.push_back(box_at(x, y, z));
    // Tenths from 0.1 to 1, as in the original.
    Rng rng(seed, "lavamd/particles");
    auto tenth = [&] { return (1 + rng.below(10)) / 10.0; };
    for (std::size_t i = 0; i < boxes_.size() * particles_; ++i) {
      Vector at{};
      at.v = tenth();
      at.x = tenth();
      at.y = tenth();
      at.z = tenth();
      position_.push_back(at);
      charge_.push_back(tenth());
    }
    inputs_.add(boxes_, position_, charge_);
  }

  Box box_at(std::int32_t x, std::int32_t y, std::int32_t z) const {
    auto side = static_cast<std::int32_t>(side_);
    auto number = [&](std::int32_t u, std::int32_t v, std::int32_t w) {
      return (w * side + v) * side + u;
    };
    auto first = [&](std::int32_t of) { return static_cast<std::uint64_t>(of) * particles_; };
    Box box{};
    box.x = x;
    box.y = y;
    box.z = z;
    box.number = number(x, y, z);
    box.first = first(box.number);
    for (std::int32_t turn = 0; turn < 27; ++turn) {
      std::int32_t u = x + turn % 3 - 1, v = y + turn / 3 % 3 - 1, w = z + turn / 9 - 1;
      bool inside = std::min({u, v, w}) >= 0 && std::max({u, v, w}) < side;
      if (turn == 13 || !inside) continue;
      box.neighbor[box.neighbors++] = {u, v, w, number(u, v, w), first(number(u, v, w))};
    }
    return box;
  }

  // With the sum of the terms' absolute values.
  Vector force_on(std::size_t particle, Vector& magnitude) const {
    const Box& own = boxes_[particle / particles_];
    Vector sum{};
    add_box(particle, own, sum, magnitude);
    for (std::int32_t k = 0; k < own.neighbors; ++k)
      add_box(particle, boxes_[static_cast<std::size_t>(own.neighbor[k].number)], sum, magnitude);
    return sum;
  }

  void add_box(std::size_t particle, const Box& box, Vector& sum, Vector& magnitude) const {
    const Vector& here = position_[particle];
    for (std::size_t j = box.first; j < box.first + particles_; ++j) {
      const Vector& there = position_[j];
      double product = here.x * there.x + here.y * there.y + here.z * there.z;
      double potential = std::exp(-2 * kReach * kReach * (here.v + there.v - product));
      double scale = 2 * potential * charge_[j];
      auto add = [](double term, double& total, double& absolute) {
        total += term;
        absolute += std::abs(term);
      };
      add(charge_[j] * potential, sum.v, magnitude.v);
      add(scale * (here.x - there.x), sum.x, magnitude.x);
      add(scale * (here.y - there.y), sum.y, magnitude.y);
      add(scale * (here.z - there.z), sum.z, magnitude.z);
    }
  }

  std::uint32_t side_ = 0, particles_ = 0, block_ = 128;
  Sums sums_ = Sums::Registers;
  std::vector<Box> boxes_;
  std::vector<Vector> position_, force_;
  std::vector<double> charge_;
};

}  // namespace

void add_workload_lavamd(Workloads& w) {
  w.add<LavaMd>("lavamd", "forces between particles of neighbouring boxes: double precision, exp");
}

}  // namespace raddle::runtime
