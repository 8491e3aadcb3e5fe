// Host code of raytrace: one picture, checked ray by ray. See README.md.
#include <algorithm>
#include <array>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/inputs.h"
#include "raytrace/trace.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr Dim3 kBlock = {16, 8};

class RayTrace final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    constexpr std::uint32_t kSides[] = {16, 256, 256};
    width_ = height_ = kSides[static_cast<std::size_t>(size)];
  }

  void visit(FieldVisitor& v) override {
    v.field("width", width_, {1, 8192}, "pixels", "of the picture");
    v.field("height", height_, {1, 8192}, "pixels", "of the picture");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "raytrace");
    KernelId kernel = device.kernel(module, "raytrace");
    std::array<float, 12> camera = camera_rows();
    device.copy_to_device(device.symbol(module, "raytrace_camera"), camera.data(), sizeof camera);
    device.copy_to_device(device.symbol(module, "raytrace_objects"), scene_.data(), sizeof scene_);
    DeviceArray<std::uint32_t> picture(device, std::size_t{width_} * height_);
    constexpr float kShift = 0;
    device.launch(
        kernel, {blocks_for(width_, kBlock.x), blocks_for(height_, kBlock.y)}, kBlock,
        Arguments(picture.address(), width_, height_, kShift, static_cast<float>(camera_.focus)));
    device.synchronize();
    picture_ = picture.download();
  }

  // A colour must lie between those of the rays near by, each rounded to 255 levels: a ray beside
  // an edge may pass on either side of it, and each bounce makes an error larger.
  std::string check() override {
    for (std::size_t i = 0; i < picture_.size(); ++i) {
      auto x = static_cast<double>(i % width_), y = static_cast<double>(i / width_);
      Bounds bounds;
      bounds.take(colour_at(x, y));
      if (bounds.hold(picture_[i])) continue;
      for (double dx : {-kBeside, 0.0, kBeside})
        for (double dy : {-kBeside, 0.0, kBeside}) bounds.take(colour_at(x + dx, y + dy));
      if (!bounds.hold(picture_[i]))
        return difference_text("pixel", i, packed(colour_at(x, y)), picture_[i]);
    }
    return "";
  }

 private:
  using Colour = std::array<double, 4>;  // in levels

  // Rays so many pixels apart pass for the same; a level may be off by one where it is rounded.
  static constexpr double kBeside = 1e-3, kTolerance = 1;

  static std::uint32_t channel(std::uint32_t pixel, std::size_t c) { return pixel >> 8 * c & 0xff; }

  static std::uint32_t packed(const Colour& colour) {
    std::uint32_t pixel = 0;
    for (std::size_t c = 0; c < 4; ++c) pixel |= static_cast<std::uint32_t>(colour[c]) << 8 * c;
    return pixel;
  }

  struct Bounds {
    Colour minimum{256, 256, 256, 256}, maximum{-1, -1, -1, -1};
    void take(const Colour& colour) {
      for (std::size_t c = 0; c < 4; ++c) {
        minimum[c] = std::min(minimum[c], colour[c]);
        maximum[c] = std::max(maximum[c], colour[c]);
      }
    }
    bool hold(std::uint32_t pixel) const {
      for (std::size_t c = 0; c < 4; ++c)
        if (channel(pixel, c) < std::floor(minimum[c]) - kTolerance ||
            channel(pixel, c) > maximum[c] + kTolerance)
          return false;
      return true;
    }
  };

  Colour colour_at(double x, double y) const {
    Colour colour = trace_pixel(scene_, camera_, x, y, width_, height_).colour;
    for (double& share : colour) share = 255 * std::clamp(share, 0.0, 1.0);
    return colour;
  }

  // The scene is the public one but for its colours, which no ray's way depends on.
  void make_input(std::uint64_t seed) {
    std::array<float, 3 * kObjects> colours;
    Rng rng(seed, "raytrace/colours");
    for (float& share : colours) share = static_cast<float>(rng.unit());
    scene_ = scene_objects(colours);
    inputs_.add(std::vector<float>(colours.begin(), colours.end()), width_, height_);
  }

  std::array<float, 12> camera_rows() const {
    std::array<float, 12> rows{};
    std::size_t at = 0;
    for (const Direction* row : {&camera_.forward, &camera_.up, &camera_.right}) {
      for (double part : *row) rows[at++] = static_cast<float>(part);
      rows[at] = static_cast<float>(camera_.eye[at / 4]);
      ++at;
    }
    return rows;
  }

  std::uint32_t width_ = 0, height_ = 0;
  Camera camera_ = scene_camera();
  Scene scene_{};
  std::vector<std::uint32_t> picture_;
};

}  // namespace

void add_workload_raytrace(Workloads& w) {
  w.add<RayTrace>("raytrace", "ray tracing: reflected rays, a stack in local memory");
}

}  // namespace raddle::runtime
