// Half precision (IEEE binary16) on the host: conversion, random vectors, what a rounded result may
// differ by.
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace raddle::workloads {

using Half = std::uint16_t;  ///< its bits

/// Unit roundoff, and half the distance of numbers next to 0.
inline constexpr double kHalfRoundoff = 0x1p-11, kHalfStep = 0x1p-25;

/// To the nearest, ties to even.
Half to_half(double value);
float to_float(Half half);
std::vector<float> to_floats(const std::vector<Half>& halves);

/// `count` numbers at 4,096 evenly spaced values of [-limit, limit), from generator `path` of
/// `seed`; five of them from one random word.
std::vector<Half> random_halves(std::uint64_t seed, std::string_view path, std::size_t count,
                                double limit);

/// What a result may differ by from `expected` that was computed with an error of at most `error`
/// and then rounded to half precision.
inline double half_tolerance(double expected, double error) {
  return (std::abs(expected) + error) * kHalfRoundoff + kHalfStep + error;
}

}  // namespace raddle::workloads
