// Host code of convolution: a separable filter, along rows and then along columns. See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr int kRadius = 8;                             // as in kernels.cu
constexpr std::uint32_t kSteps = 8;                    // as in kernels.cu
constexpr Dim3 kRowBlock{16, 4}, kColumnBlock{16, 8};  // as in kernels.cu

struct Image {
  std::uint32_t columns, rows;
  std::size_t size() const { return std::size_t{columns} * rows; }
};

class Convolution final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr Image kImages[] = {{60, 40}, {1024, 512}, {1024, 512}};
    image_ = kImages[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", image_.columns, {1, 1u << 15}, "pixels", "width of the image");
    v.field("rows", image_.rows, {1, 1u << 15}, "pixels", "height of the image");
  }

  std::vector<std::string> violations() const override {
    if (image_.size() <= std::size_t{1} << 28) return {};
    return {"columns * rows must not exceed 2^28"};
  }

  void run(Device& device, std::uint64_t seed) override {
    source_ = random_floats(seed, "convolution/image", image_.size(), 0, 255);
    weights_ = random_floats(seed, "convolution/weights", 2 * kRadius + 1, 0, 1);
    inputs_.add(source_, weights_);
    ModuleId module = load_module(device, "convolution");
    device.copy_to_device(device.symbol(module, "convolution_weights"), weights_.data(),
                          weights_.size() * sizeof(float));
    DeviceArray<float> source(device, source_), between(device, image_.size());
    DeviceArray<float> target(device, image_.size());
    device.launch(
        device.kernel(module, "convolution_rows"),
        {blocks_for(image_.columns, kSteps * kRowBlock.x), blocks_for(image_.rows, kRowBlock.y)},
        kRowBlock, Arguments(source.address(), between.address(), image_.columns, image_.rows));
    device.launch(device.kernel(module, "convolution_columns"),
                  {blocks_for(image_.columns, kColumnBlock.x),
                   blocks_for(image_.rows, kSteps * kColumnBlock.y)},
                  kColumnBlock,
                  Arguments(between.address(), target.address(), image_.columns, image_.rows));
    device.synchronize();
    between_ = between.download();
    result_ = target.download();
  }

  // Tolerance: 17 products and their sum, at most 17 roundings of a sum of positive terms, fused or
  // not. Columns are checked on the rows' own result.
  std::string check() override {
    double error = chained_error(2 * kRadius + 2);
    auto wrong = [&](std::string_view what, const std::vector<float>& from,
                     const std::vector<float>& got, int dx, int dy) {
      std::vector<double> expected = filtered(from, dx, dy);
      return first_beyond(what, expected, got, [&](std::size_t i) { return error * expected[i]; });
    };
    if (auto text = wrong("rows", source_, between_, 1, 0); !text.empty()) return text;
    return wrong("image", between_, result_, 0, 1);
  }

 private:
  std::vector<double> filtered(const std::vector<float>& from, int dx, int dy) const {
    std::vector<double> to(image_.size(), 0);
    auto columns = static_cast<int>(image_.columns), rows = static_cast<int>(image_.rows);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        for (int j = -kRadius; j <= kRadius; ++j) {
          int u = x + j * dx, v = y + j * dy;
          if (u < 0 || u >= columns || v < 0 || v >= rows) continue;
          to[static_cast<std::size_t>(y) * image_.columns + x] +=
              double{weights_[kRadius - j]} *
              from[static_cast<std::size_t>(v) * image_.columns + u];
        }
    return to;
  }

  Image image_{};
  std::vector<float> source_, weights_, between_, result_;
};

}  // namespace

void add_workload_convolution(Workloads& w) {
  w.add<Convolution>("convolution", "separable filter: tiles with halos, along rows and columns");
}

}  // namespace raddle::runtime
