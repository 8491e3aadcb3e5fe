// Host code of polybench: dense loops, one program of several. See README.md.
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kThreads = 256, kWidth = 32, kHeight = 8;
constexpr float kAlpha = 1.5f, kBeta = 0.75f;

enum class Program : std::uint32_t { Atax, Bicg, Mvt, Gesummv, Gemm, Conv2d, Conv3d };
constexpr std::string_view kPrograms[] = {"atax", "bicg",   "mvt",   "gesummv",
                                          "gemm", "conv2d", "conv3d"};

/// What becomes of one element: its value, and how far another order of sums or fused products may
/// be from it.
struct Expected {
  std::vector<double> value, tolerance;
};

class Polybench final : public HashedWorkload {
 public:
  void set_size(Size size) override { by_size(size, n_, {40, 512, 0}); }

  void visit(FieldVisitor& v) override {
    v.choice("program", program_, kPrograms, "which of Polybench's programs");
    v.field("n", n_, {0, 8192}, "elements",
            "side of the matrices, or of the cube; 0: as published, 4096, of gemm 512, of conv3d "
            "256");
  }

  std::vector<std::string> violations() const override {
    if (program_ != Program::Conv3d || n_ <= 512) return {};
    return {"n must not exceed 512 for conv3d, is " + std::to_string(n_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_inputs(seed);
    ModuleId module = load_module(device, "polybench");
    switch (program_) {
      case Program::Atax:
      case Program::Bicg:
      case Program::Mvt:
        return run_products(device, module);
      case Program::Gesummv:
        return run_gesummv(device, module);
      case Program::Gemm:
        return run_gemm(device, module);
      case Program::Conv2d:
      case Program::Conv3d:
        return run_convolution(device, module);
    }
  }

  std::string check() override {
    switch (program_) {
      case Program::Atax:
        if (std::string wrong = compare("tmp", product(first_, vector_, false), first_result_);
            !wrong.empty())
          return wrong;
        return compare("y", product(first_, first_result_, true), result_);
      case Program::Bicg:
        if (std::string wrong = compare("s", product(first_, vector_, true), first_result_);
            !wrong.empty())
          return wrong;
        return compare("q", product(first_, other_vector_, false), result_);
      case Program::Mvt:
        if (std::string wrong = compare("x1", product(first_, vector_, false), first_result_);
            !wrong.empty())
          return wrong;
        return compare("x2", product(first_, other_vector_, true), result_);
      case Program::Gesummv:
        return check_gesummv();
      case Program::Gemm:
        return check_gemm();
      case Program::Conv2d:
      case Program::Conv3d:
        return check_convolution();
    }
    return "";
  }

 private:
  using Floats = std::vector<float>;

  std::uint32_t side() const {
    if (n_ != 0) return n_;
    return program_ == Program::Gemm ? 512 : program_ == Program::Conv3d ? 256 : 4096;
  }
  bool convolution() const { return program_ == Program::Conv2d || program_ == Program::Conv3d; }
  std::size_t cells() const {
    const std::size_t n = side();
    return program_ == Program::Conv3d ? n * n * n : n * n;
  }

  void make_inputs(std::uint64_t seed) {
    first_ = random_floats(seed, "polybench/a", cells(), -1, 1);
    if (program_ == Program::Gesummv || program_ == Program::Gemm)
      second_ = random_floats(seed, "polybench/b", cells(), -1, 1);
    if (program_ == Program::Gemm) old_ = random_floats(seed, "polybench/c", cells(), -1, 1);
    vector_ = random_floats(seed, "polybench/vector", side(), -1, 1);
    other_vector_ = random_floats(seed, "polybench/other", side(), -1, 1);
    for (const Floats* some : {&first_, &second_, &old_, &vector_, &other_vector_})
      inputs_.add(*some);
    inputs_.add(static_cast<std::uint32_t>(program_));
  }

  /// atax: rows, then columns with what the rows gave; bicg: columns, then rows; mvt: rows, then
  /// columns, with a vector of its own.
  void run_products(Device& device, ModuleId module) {
    const KernelId rows = device.kernel(module, "polybench_rows");
    const KernelId columns = device.kernel(module, "polybench_columns");
    DeviceArray<float> matrix(device, first_), vector(device, vector_);
    DeviceArray<float> other(device, other_vector_);
    DeviceArray<float> one(device, Floats(side(), 0.0f)), two(device, Floats(side(), 0.0f));
    const bool bicg = program_ == Program::Bicg;
    const Address second = program_ == Program::Atax ? one.address() : other.address();
    launch_lines(device, bicg ? columns : rows,
                 Arguments(matrix.address(), vector.address(), one.address(), side()));
    launch_lines(device, bicg ? rows : columns,
                 Arguments(matrix.address(), second, two.address(), side()));
    device.synchronize();
    first_result_ = one.download();
    result_ = two.download();
  }

  void run_gesummv(Device& device, ModuleId module) {
    DeviceArray<float> a(device, first_), b(device, second_), vector(device, vector_);
    DeviceArray<float> sum(device, Floats(side(), 0.0f)), out(device, Floats(side(), 0.0f));
    launch_lines(device, device.kernel(module, "polybench_gesummv"),
                 Arguments(a.address(), b.address(), vector.address(), sum.address(), out.address(),
                           side(), kAlpha, kBeta));
    device.synchronize();
    result_ = out.download();
  }

  void run_gemm(Device& device, ModuleId module) {
    DeviceArray<float> a(device, first_), b(device, second_), c(device, old_);
    launch_plane(device, device.kernel(module, "polybench_gemm"),
                 Arguments(a.address(), b.address(), c.address(), side(), kAlpha, kBeta));
    device.synchronize();
    result_ = c.download();
  }

  void run_convolution(Device& device, ModuleId module) {
    DeviceArray<float> a(device, first_), out(device, cells());
    out.set_bytes(0);
    if (program_ == Program::Conv2d) {
      launch_plane(device, device.kernel(module, "polybench_conv2d"),
                   Arguments(a.address(), out.address(), side()));
    } else {
      const KernelId kernel = device.kernel(module, "polybench_conv3d");
      for (std::uint32_t plane = 1; plane + 1 < side(); ++plane)
        launch_plane(device, kernel, Arguments(a.address(), out.address(), side(), plane));
    }
    device.synchronize();
    result_ = out.download();
  }

  void launch_lines(Device& device, KernelId kernel, const Arguments& arguments) const {
    device.launch(kernel, {blocks_for(side(), kThreads)}, {kThreads}, arguments);
  }
  void launch_plane(Device& device, KernelId kernel, const Arguments& arguments) const {
    device.launch(kernel, {blocks_for(side(), kWidth), blocks_for(side(), kHeight)},
                  {kWidth, kHeight}, arguments);
  }

  /// matrix x vector, or the transposed matrix x vector.
  Expected product(const Floats& matrix, const Floats& vector, bool transposed) const {
    const std::size_t n = side();
    Expected out{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t column = 0; column < n; ++column) {
        const std::size_t to = transposed ? column : row, from = transposed ? row : column;
        const double term = double{matrix[row * n + column]} * vector[from];
        out.value[to] += term;
        out.tolerance[to] += std::abs(term);
      }
    for (double& t : out.tolerance) t *= chained_error(static_cast<double>(n) + 1);
    return out;
  }

  std::string check_gesummv() const {
    Expected out = product(first_, vector_, false);
    const Expected other = product(second_, vector_, false);
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.value[i] = kAlpha * out.value[i] + kBeta * other.value[i];
      out.tolerance[i] = kAlpha * out.tolerance[i] + kBeta * other.tolerance[i] +
                         3 * kFloatRoundoff * std::abs(out.value[i]) + 3 * kFloatRoundoff;
    }
    return compare("y", out, result_);
  }

  std::string check_gemm() const {
    const std::size_t n = side();
    Expected out{std::vector<double>(n * n), std::vector<double>(n * n)};
    for (std::size_t at = 0; at < n * n; ++at) {
      out.value[at] = double{kBeta} * old_[at];
      out.tolerance[at] = std::abs(out.value[at]);
    }
    for (std::size_t row = 0; row < n; ++row)
      for (std::size_t k = 0; k < n; ++k) {
        const double left = double{kAlpha} * first_[row * n + k];
        for (std::size_t column = 0; column < n; ++column) {
          const double term = left * second_[k * n + column];
          out.value[row * n + column] += term;
          out.tolerance[row * n + column] += std::abs(term);
        }
      }
    for (double& t : out.tolerance) t *= chained_error(static_cast<double>(n) + 4);
    return compare("c", out, result_);
  }

  /// Its rim stays zero, exactly.
  std::string check_convolution() const {
    const std::size_t n = side();
    const bool cube = program_ == Program::Conv3d;
    Expected out{std::vector<double>(cells()), std::vector<double>(cells())};
    const std::size_t planes = cube ? n : 3;
    for (std::size_t plane = 1; plane + 1 < planes; ++plane)
      for (std::size_t row = 1; row + 1 < n; ++row)
        for (std::size_t column = 1; column + 1 < n; ++column) {
          const std::size_t at = ((cube ? plane : 0) * n + row) * n + column;
          cube ? add_cube(at, out) : add_plane(at, out);
        }
    for (double& t : out.tolerance) t *= chained_error(12);
    return compare("out", out, result_);
  }

  void add(std::size_t to, std::size_t from, double weight, Expected& out) const {
    out.value[to] += weight * first_[from];
    out.tolerance[to] += std::abs(weight * first_[from]);
  }
  void add_plane(std::size_t at, Expected& out) const {
    constexpr double kWeight[3][3] = {
        {0.25, -0.375, 0.4375}, {0.5, 0.625, 0.6875}, {-0.75, -0.875, 0.125}};
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 3; ++x)
        add(at, at + y * side() + x - side() - 1, kWeight[y][x], out);
  }
  void add_cube(std::size_t at, Expected& out) const {
    const std::size_t n = side(), before = at - n * n, after = at + n * n;
    const std::pair<std::size_t, double> points[] = {
        {before - n - 1, 0.25},  {after - n - 1, 0.4375},
        {at - n, -0.375},        {at, 0.625},
        {at + n, -0.875},        {before + 1 - n, 0.5},
        {after + 1 - n, 0.6875}, {before + 1, -0.75},
        {after + 1, 0.125},      {before + n + 1, -0.3125},
        {after + n + 1, 0.5625}};
    for (const auto& [from, weight] : points) add(at, from, weight, out);
  }

  static std::string compare(std::string_view what, const Expected& expected, const Floats& got) {
    return first_beyond(what, expected.value, got,
                        [&](std::size_t i) { return expected.tolerance[i]; });
  }

  Program program_ = Program::Atax;
  std::uint32_t n_ = 0;
  Floats first_, second_, old_, vector_, other_vector_, first_result_, result_;
};

}  // namespace

void add_workload_polybench(Workloads& w) {
  w.add<Polybench>("polybench", "dense loops: products of matrices and vectors, convolutions");
}

}  // namespace raddle::runtime
