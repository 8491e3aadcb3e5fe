// Inputs and reference of digits. See network.h.
#include "digits/network.h"

#include <cmath>

#include "common/inputs.h"

namespace raddle::workloads {

namespace {

constexpr std::uint32_t kLine = 29, kSide = 28, kMapLine = 13, kSmallLine = 5;

double fired(double sum) { return 1.7159 * std::tanh(0.66666667 * sum); }

std::vector<float> random_weights(std::uint64_t seed, const char* path, std::uint32_t neurons,
                                  std::uint32_t inputs) {
  double maximum = std::sqrt(3.0 / inputs);
  return random_floats(seed, path, std::size_t{neurons} * (inputs + 1), -maximum, maximum);
}

// Layers 1 and 2: every second window of the maps before, `words` from one of them to the next.
std::vector<double> windows(const std::vector<double>& before, std::uint32_t maps_before,
                            std::uint32_t line, std::uint32_t maps, std::uint32_t side,
                            const std::vector<float>& weights) {
  std::size_t words = before.size() / maps_before, inputs = 25 * std::size_t{maps_before};
  std::vector<double> after;
  for (std::size_t map = 0; map < maps; ++map)
    for (std::size_t y = 0; y < side; ++y)
      for (std::size_t x = 0; x < side; ++x) {
        const float* weight = &weights[map * (inputs + 1)];
        double sum = *weight++;
        for (std::size_t place = 0; place < 25; ++place)
          for (std::size_t m = 0; m < maps_before; ++m)
            sum += *weight++ * before[words * m + (2 * y + place / 5) * line + 2 * x + place % 5];
        after.push_back(fired(sum));
      }
  return after;
}

std::vector<double> all_of(const std::vector<double>& before, std::uint32_t neurons,
                           const std::vector<float>& weights) {
  std::vector<double> after;
  const float* weight = weights.data();
  for (std::size_t n = 0; n < neurons; ++n) {
    double sum = *weight++;
    for (double input : before) sum += input * *weight++;
    after.push_back(fired(sum));
  }
  return after;
}

}  // namespace

DigitsNetwork make_digits_network(const DigitsShape& shape, std::uint64_t seed) {
  using Shape = DigitsShape;
  return {shape, random_weights(seed, "digits/first", Shape::kMaps, Shape::kWindow),
          random_weights(seed, "digits/second", shape.maps, Shape::kWindow * Shape::kMaps),
          random_weights(seed, "digits/third", shape.hidden, shape.small()),
          random_weights(seed, "digits/fourth", Shape::kOutputs, shape.hidden)};
}

std::vector<float> make_digits_pictures(std::uint32_t images, std::uint64_t seed) {
  constexpr int kStrokes = 3, kDots = 40;
  Rng rng(seed, "digits/pictures");
  std::vector<float> pictures(std::size_t{images} * DigitsShape::kPicture, 1.0f);
  for (std::uint32_t image = 0; image < images; ++image)
    for (int stroke = 0; stroke < kStrokes; ++stroke) {
      auto somewhere = [&] { return 4 + (kSide - 8) * rng.unit(); };
      double x = somewhere(), y = somewhere(), to_x = somewhere(), to_y = somewhere();
      for (int dot = 0; dot < kDots; ++dot) {
        auto column = static_cast<std::uint32_t>(x + (to_x - x) * dot / kDots);
        auto line = static_cast<std::uint32_t>(y + (to_y - y) * dot / kDots);
        auto ink = static_cast<float>(rng.below(256)) / 256;
        pictures[image * DigitsShape::kPicture + line * kLine + column] = 1.0f - ink;
      }
    }
  return pictures;
}

std::vector<double> digits_outputs(const DigitsNetwork& network,
                                   const std::vector<float>& pictures) {
  std::vector<double> all;
  for (std::uint32_t image = 0; image < network.shape.images; ++image) {
    auto begin = pictures.begin() + std::ptrdiff_t{image} * DigitsShape::kPicture;
    std::vector<double> neurons(begin, begin + DigitsShape::kPicture);
    neurons = windows(neurons, 1, kLine, DigitsShape::kMaps, kMapLine, network.first);
    neurons = windows(neurons, DigitsShape::kMaps, kMapLine, network.shape.maps, kSmallLine,
                      network.second);
    neurons = all_of(neurons, network.shape.hidden, network.third);
    neurons = all_of(neurons, DigitsShape::kOutputs, network.fourth);
    all.insert(all.end(), neurons.begin(), neurons.end());
  }
  return all;
}

}  // namespace raddle::workloads
