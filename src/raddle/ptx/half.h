// IEEE 754 binary16 from binary64, for initialisers of .f16 variables.
#pragma once
#include <cstdint>

namespace raddle::ptx {

/// Round to nearest, ties to even; NaN becomes 0x7fff as on the device.
std::uint16_t half_bits(double value);

}  // namespace raddle::ptx
