// The network of digits and its reference. See README.md.
#pragma once
#include <cstdint>
#include <vector>

namespace raddle::workloads {

/// Numbers of neurons; the layers of maps have fixed windows.
struct DigitsShape {
  std::uint32_t images = 1;
  std::uint32_t maps = 50;  ///< of 5 x 5 in the second layer
  std::uint32_t hidden = 100;

  static constexpr std::uint32_t kPicture = 29 * 29, kMaps = 6, kMap = 13 * 13, kOutputs = 10;
  static constexpr std::uint32_t kWindow = 25;
  std::uint32_t small() const { return maps * kWindow; }
};

/// Weights of the four layers; in each a bias before the weights of a map or neuron.
struct DigitsNetwork {
  DigitsShape shape;
  std::vector<float> first, second, third, fourth;
};

/// Random weights that keep the sums of a layer near 1.
DigitsNetwork make_digits_network(const DigitsShape& shape, std::uint64_t seed);

/// Pictures of 28 x 28 in 29 x 29, a few strokes each: 1 is paper, 0 is ink.
std::vector<float> make_digits_pictures(std::uint32_t images, std::uint64_t seed);

/// Ten outputs for each image, in double precision.
std::vector<double> digits_outputs(const DigitsNetwork& network,
                                   const std::vector<float>& pictures);

}  // namespace raddle::workloads
