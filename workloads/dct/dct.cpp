// Host code of dct: cosine transform of an image's squares of 8 x 8 pixels. See README.md.
#include <array>
#include <cmath>
#include <numbers>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kSide = 8, kAcross = 4, kDown = 2;  // as in kernels.cu

class Dct final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, columns_, {64, 512, 512});
    by_size(size, rows_, {48, 512, 512});
  }

  void visit(FieldVisitor& v) override {
    v.field("columns", columns_, {kSide * kAcross, 8192}, "pixels", "width of the image");
    v.field("rows", rows_, {kSide * kDown, 8192}, "pixels", "height of the image");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    if (columns_ % (kSide * kAcross) != 0)
      all.push_back("columns must be a multiple of 32, is " + std::to_string(columns_));
    if (rows_ % (kSide * kDown) != 0)
      all.push_back("rows must be a multiple of 16, is " + std::to_string(rows_));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    image_ = random_floats(seed, "dct/image", std::size_t{columns_} * rows_, -128, 127);
    inputs_.add(image_, columns_);
    KernelId kernel = device.kernel(load_module(device, "dct"), "dct");
    DeviceArray<float> image(device, image_), out(device, image_.size());
    device.launch(kernel, {columns_ / (kSide * kAcross), rows_ / (kSide * kDown)},
                  {kSide, kAcross, kDown}, Arguments(out.address(), image.address(), columns_));
    device.synchronize();
    result_ = out.download();
  }

  // Against the definition, in double precision.
  std::string check() override {
    std::array<std::array<double, kSide>, kSide> base{};
    for (std::size_t k = 0; k < kSide; ++k)
      for (std::size_t i = 0; i < kSide; ++i)
        base[k][i] = (k == 0 ? std::sqrt(0.125) : 0.5) *
                     std::cos((2.0 * static_cast<double>(i) + 1) * static_cast<double>(k) *
                              std::numbers::pi / 16);
    std::vector<double> expected(image_.size()), lines(image_.size());
    auto sum = [&](const auto& of, std::size_t at, std::size_t step, std::size_t k) {
      double out = 0;
      for (std::size_t i = 0; i < kSide; ++i) out += base[k][i] * of[at + i * step];
      return out;
    };
    const std::size_t width = columns_;
    for (std::size_t at = 0; at < image_.size(); ++at)
      lines[at] = sum(image_, at - at % kSide, 1, at % kSide);
    for (std::size_t at = 0; at < image_.size(); ++at) {
      const std::size_t row = at / width;
      expected[at] = sum(lines, at - row % kSide * width, width, row % kSide);
    }
    return first_beyond("result", expected, result_, [](std::size_t) { return kTolerance; });
  }

 private:
  // Two transforms of at most 8 roundings each, of numbers up to 8 * 128.
  static constexpr double kTolerance = 16 * kFloatRoundoff * 8 * 128;

  std::uint32_t columns_ = 0, rows_ = 0;
  std::vector<float> image_, result_;
};

}  // namespace

void add_workload_dct(Workloads& w) {
  w.add<Dct>("dct", "cosine transform of 8 x 8 pixels: rows and columns in shared memory");
}

}  // namespace raddle::runtime
