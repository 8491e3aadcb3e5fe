// Host code of srad: steps of speckle-reducing anisotropic diffusion. See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 512;  // of version 1, as in kernels.cu
constexpr std::uint32_t kSide = 16;      // of version 2, as in kernels.cu
constexpr std::uint32_t kRegion = 128;   // side of the corner whose speckle version 2 measures
constexpr double kRate = 0.5;            // of diffusion

// Pixel (row, column) is row * down + column * across; neighbours beyond the edge are the edge.
struct Layout {
  std::size_t rows, columns, down, across;
  std::size_t at(std::size_t row, std::size_t column) const { return row * down + column * across; }
  std::size_t north(std::size_t row, std::size_t column) const {
    return at(row == 0 ? 0 : row - 1, column);
  }
  std::size_t south(std::size_t row, std::size_t column) const {
    return at(std::min(row + 1, rows - 1), column);
  }
  std::size_t west(std::size_t row, std::size_t column) const {
    return at(row, column == 0 ? 0 : column - 1);
  }
  std::size_t east(std::size_t row, std::size_t column) const {
    return at(row, std::min(column + 1, columns - 1));
  }
};

// q0^2: variance over squared mean.
double speckle(double sum, double squares, double count) {
  double mean = sum / count;
  return (squares / count - mean * mean) / (mean * mean);
}

class Srad final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    by_size(size, rows_, {32, 256, 512});
    by_size(size, columns_, {48, 256, 512});
    by_size(size, iterations_, {1, 2, 10});
  }

  void visit(FieldVisitor& v) override {
    v.field(
        "version", version_, {1, 2}, "",
        "1: reductions on the device, no tiles; 2: reductions on the host, shared-memory tiles");
    v.field("rows", rows_, {2, 8192}, "pixels", "height of the image");
    v.field("columns", columns_, {2, 8192}, "pixels", "width of the image");
    v.field("iterations", iterations_, {1, 10000}, "steps", "steps of diffusion");
    v.field("unified", unified_,
            "version 2: the image stays in memory that host and device share, and the host reads "
            "what its statistics need; otherwise all of it is copied there and back in every step");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all;
    for (auto [name, length] : {std::pair("rows", rows_), std::pair("columns", columns_)})
      if (version_ == 2 && length % kSide != 0)
        all.push_back(std::string(name) + " must be a multiple of " + std::to_string(kSide) +
                      " in version 2, is " + std::to_string(length));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    float high = version_ == 1 ? 255.0f : 1.0f;  // grey levels, or their logarithms
    image_ = random_floats(seed, "srad/image", pixels(), 0, high);
    if (version_ == 2)
      for (float& value : image_) value = static_cast<float>(std::exp(value));
    inputs_.add(image_, rows_, iterations_);
    ModuleId module = load_module(device, "srad");
    if (version_ == 1) run_version_1(device, module);
    else run_version_2(device, module);
  }

  std::string check() override {
    std::vector<double> image(image_.begin(), image_.end());
    if (version_ == 1)
      for (double& value : image) value = std::exp(value / 255);
    for (std::uint32_t i = 0; i < iterations_; ++i) reference_step(image);
    if (version_ == 1)
      for (double& value : image) value = std::log(value) * 255;
    double maximum = *std::max_element(image.begin(), image.end());
    double tolerance = kTolerance * maximum * iterations_;
    return first_beyond("image", image, result_, [&](std::size_t) { return tolerance; });
  }

 private:
  // A step adds to a pixel at most an eighth of each difference to a neighbour, times a coefficient
  // of 0 to 1: pixels stay between their neighbours and errors of pixels do not grow. What enters
  // anew are the roundings of the coefficient, whose (q - q0^2) / (q0^2 (1 + q0^2)) enlarges those
  // of q by 1 / q0^2, here 10 to 100, and version 1's approximate exponential and logarithm.
  // Twenty times the worst seen at every size, seeds 1 to 6: 5e-7 of the brightest pixel per step.
  static constexpr double kTolerance = 1e-5;

  std::size_t pixels() const { return std::size_t{rows_} * columns_; }

  void run_version_1(Device& device, ModuleId module) {
    KernelId prepare = device.kernel(module, "srad1_prepare");
    KernelId reduce = device.kernel(module, "srad1_reduce");
    KernelId gradient = device.kernel(module, "srad1_gradient");
    KernelId update = device.kernel(module, "srad1_update");
    auto count = static_cast<std::uint32_t>(pixels());
    const std::uint64_t all = count;  // kernels take it as a long
    Layout layout = this->layout();
    std::vector<std::uint32_t> row_north, row_south, column_west, column_east;
    for (std::uint32_t row = 0; row < rows_; ++row) {
      row_north.push_back(static_cast<std::uint32_t>(layout.north(row, 0)));
      row_south.push_back(static_cast<std::uint32_t>(layout.south(row, 0)));
    }
    for (std::uint32_t column = 0; column < columns_; ++column) {
      column_west.push_back(static_cast<std::uint32_t>(layout.west(0, column) / rows_));
      column_east.push_back(static_cast<std::uint32_t>(layout.east(0, column) / rows_));
    }
    DeviceArray<std::uint32_t> north(device, row_north), south(device, row_south);
    DeviceArray<std::uint32_t> west(device, column_west), east(device, column_east);
    DeviceArray<float> image(device, image_), sums(device, count), squares(device, count);
    DeviceArray<float> steps(device, 4 * std::size_t{count}), coefficient(device, count);

    Dim3 grid{blocks_for(count, kThreads)}, block{kThreads};
    device.launch(device.kernel(module, "srad1_extract"), grid, block,
                  Arguments(image.address(), all));
    for (std::uint32_t i = 0; i < iterations_; ++i) {
      device.launch(prepare, grid, block,
                    Arguments(image.address(), sums.address(), squares.address(), all));
      for (std::uint32_t left = count, stride = 1; left > 1; stride *= kThreads) {
        device.launch(reduce, {blocks_for(left, kThreads)}, block,
                      Arguments(sums.address(), squares.address(), left, stride));
        left = blocks_for(left, kThreads);
      }
      device.synchronize();
      double sum = device.download<float>(sums.address(), 1)[0];
      double square = device.download<float>(squares.address(), 1)[0];
      auto q0 = static_cast<float>(speckle(sum, square, count));
      device.launch(
          gradient, grid, block,
          Arguments(image.address(), north.address(), south.address(), west.address(),
                    east.address(), steps.address(), coefficient.address(), rows_, all, q0));
      device.launch(update, grid, block,
                    Arguments(image.address(), south.address(), east.address(), steps.address(),
                              coefficient.address(), rows_, all, static_cast<float>(kRate)));
    }
    device.launch(device.kernel(module, "srad1_compress"), grid, block,
                  Arguments(image.address(), all));
    device.synchronize();
    result_ = image.download();
  }

  // The image goes to the host and back in every step, as it does in the well-known program, or is
  // shared with the host.
  void run_version_2(Device& device, ModuleId module) {
    KernelId gradient = device.kernel(module, "srad2_gradient");
    KernelId update = device.kernel(module, "srad2_update");
    std::size_t count = pixels();
    DeviceArray<float> image(device, count), north(device, count), south(device, count);
    DeviceArray<float> west(device, count), east(device, count), c(device, count);
    Dim3 grid{columns_ / kSide, rows_ / kSide}, block{kSide, kSide};
    result_ = image_;
    for (std::uint32_t i = 0; i < iterations_; ++i) {
      auto q0 = static_cast<float>(region_speckle(result_));
      if (i == 0 || !unified_) image.upload(result_);
      device.launch(gradient, grid, block,
                    Arguments(image.address(), north.address(), south.address(), west.address(),
                              east.address(), c.address(), columns_, q0));
      device.launch(update, grid, block,
                    Arguments(image.address(), north.address(), south.address(), west.address(),
                              east.address(), c.address(), columns_, static_cast<float>(kRate)));
      device.synchronize();
      if (unified_ && i + 1 < iterations_) read_region(device, image.address());
      else result_ = image.download();
    }
  }

  void read_region(Device& device, Address image) {
    for (std::size_t row = 0; row < std::min(rows_, kRegion); ++row)
      device.copy_to_host(&result_[row * columns_], image + row * columns_ * sizeof(float),
                          std::min(columns_, kRegion) * sizeof(float));
  }

  Layout layout() const {
    return version_ == 1 ? Layout{rows_, columns_, 1, rows_} : Layout{rows_, columns_, columns_, 1};
  }

  // Of the corner in version 2, of the whole image in version 1.
  template <class T>
  double region_speckle(const std::vector<T>& image) const {
    Layout layout = this->layout();
    std::size_t rows = rows_, columns = columns_;
    if (version_ == 2) {
      rows = std::min(rows_, kRegion);
      columns = std::min(columns_, kRegion);
    }
    double sum = 0, squares = 0;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        double value = image[layout.at(row, column)];
        sum += value;
        squares += value * value;
      }
    return speckle(sum, squares, static_cast<double>(rows * columns));
  }

  static double coefficient(double n, double s, double w, double e, double pixel, double q0) {
    double gradient = (n * n + s * s + w * w + e * e) / (pixel * pixel);
    double laplacian = (n + s + w + e) / pixel;
    double q = (gradient / 2 - laplacian * laplacian / 16) / std::pow(1 + laplacian / 4, 2);
    return std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
  }

  void reference_step(std::vector<double>& image) const {
    Layout at = layout();
    double q0 = region_speckle(image);
    std::vector<double> c(image.size()), next = image;
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) {
        double own = image[at.at(i, j)];
        c[at.at(i, j)] =
            coefficient(image[at.north(i, j)] - own, image[at.south(i, j)] - own,
                        image[at.west(i, j)] - own, image[at.east(i, j)] - own, own, q0);
      }
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) {
        double own = image[at.at(i, j)], here = c[at.at(i, j)];
        double flow = here * (image[at.north(i, j)] - own) + here * (image[at.west(i, j)] - own);
        flow += c[at.south(i, j)] * (image[at.south(i, j)] - own);
        flow += c[at.east(i, j)] * (image[at.east(i, j)] - own);
        next[at.at(i, j)] = own + kRate / 4 * flow;
      }
    image = next;
  }

  std::uint32_t version_ = 2, rows_ = 0, columns_ = 0, iterations_ = 0;
  bool unified_ = false;
  std::vector<float> image_, result_;
};

}  // namespace

void add_workload_srad(Workloads& w) {
  w.add<Srad>("srad", "speckle-reducing diffusion of an image: tiles and rims in shared memory");
}

}  // namespace raddle::runtime
