// Host code of sad: differences of larger blocks of pixels from those of smaller ones. See
// README.md.
#include <initializer_list>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

// As in kernels.cu.
constexpr std::uint32_t kPositions = 33 * 33, kRow = 1096;  // differences, of two bytes
constexpr std::uint32_t kRows = 41;                         // of a macroblock, in all regions
constexpr std::uint32_t kMaximum = 4 * 4 * 255;             // of 4 x 4 pixels of 8 bits

/// Differences of one shape of block: `rows` of each macroblock from row `first` of a macroblock.
struct Region {
  std::uint32_t first, rows;
};
constexpr Region k8x8 = {5, 4}, k8x4 = {9, 8}, k4x8 = {17, 8}, k4x4 = {25, 16};

class Sad final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    // Small: CIF, 352 x 288 pixels. Paper: 640 x 480 pixels.
    by_size(size, width_, {3, 22, 40});
    by_size(size, height_, {2, 18, 30});
  }

  void visit(FieldVisitor& v) override {
    v.field("width", width_, {1, 1024}, "macroblocks", "macroblocks in a row of the picture");
    v.field("height", height_, {1, 1024}, "macroblocks", "rows of macroblocks");
  }

  std::vector<std::string> violations() const override {
    if (words() < std::size_t{1} << 30) return {};
    return {"width * height * 41 * 548 must be less than 2^30, is " + std::to_string(words())};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_differences(seed);
    KernelId kernel = device.kernel(load_module(device, "sad"), "sad_larger_8");
    DeviceArray<std::uint16_t> sads(device, start_);
    device.launch(kernel, {width_, height_}, {32, 4}, Arguments(sads.address()));
    device.synchronize();
    // As words: two differences each.
    result_ = device.download<std::uint32_t>(sads.address(), words());
  }

  // Exact, difference by difference: sums of 4 x 4 pixels' in place of the packed additions.
  std::string check() override {
    std::vector<std::uint16_t> all = start_;
    for (std::uint32_t m = 0; m < macroblocks(); ++m)
      for (std::uint32_t y = 0; y < 4; y += 2)
        for (std::uint32_t x = 0; x < 4; x += 2) sum_quarter(all, m, x, y);
    std::vector<std::uint32_t> expected(words());
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = all[2 * i] | std::uint32_t{all[2 * i + 1]} << 16;
    return first_difference("pairs", expected, result_);
  }

 private:
  std::uint32_t macroblocks() const { return width_ * height_; }
  std::size_t words() const { return std::size_t{macroblocks()} * kRows * (kRow / 2); }
  /// Of `row` of macroblock `m` in a region.
  std::size_t at(Region region, std::uint32_t m, std::uint32_t row) const {
    return (std::size_t{region.first} * macroblocks() + region.rows * m + row) * kRow;
  }

  // Differences of 4 x 4 pixels; the rows' last seven are padding that is never read alone.
  void make_differences(std::uint64_t seed) {
    Rng rng(seed, "sad/differences");
    start_.assign(2 * words(), 0);
    for (std::size_t row = at(k4x4, 0, 0); row < start_.size(); row += kRow)
      for (std::size_t i = 0; i < kPositions; ++i)
        start_[row + i] = static_cast<std::uint16_t>(rng.below(kMaximum + 1));
    inputs_.add(start_, width_);
  }

  // The quarter of macroblock `m` from column `x` and row `y` of its blocks of 4 x 4 pixels.
  void sum_quarter(std::vector<std::uint16_t>& all, std::uint32_t m, std::uint32_t x,
                   std::uint32_t y) const {
    const std::uint32_t quarter = y + x / 2;
    auto put = [&](Region region, std::uint32_t row, std::initializer_list<std::uint32_t> blocks) {
      for (std::size_t i = 0; i < kPositions; ++i) {
        std::uint32_t sum = 0;
        for (std::uint32_t block : blocks) sum += all[at(k4x4, m, block) + i];
        all[at(region, m, row) + i] = static_cast<std::uint16_t>(sum);
      }
    };
    const std::uint32_t nw = 4 * y + x, ne = nw + 1, sw = nw + 4, se = nw + 5;
    put(k4x8, 2 * quarter, {nw, sw});
    put(k4x8, 2 * quarter + 1, {ne, se});
    put(k8x4, 2 * quarter, {nw, ne});
    put(k8x4, 2 * quarter + 1, {sw, se});
    put(k8x8, quarter, {nw, ne, sw, se});
  }

  std::uint32_t width_ = 0, height_ = 0;
  std::vector<std::uint16_t> start_;
  std::vector<std::uint32_t> result_;
};

}  // namespace

void add_workload_sad(Workloads& w) {
  w.add<Sad>("sad", "differences of larger blocks of pixels from smaller: packed sums, stores");
}

}  // namespace raddle::runtime
