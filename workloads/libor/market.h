// Sizes of libor, for kernels and host alike. See README.md.
#pragma once

constexpr int kThreads = 64;   ///< of a block
constexpr int kMaxRates = 80;  ///< forward rates of a path
constexpr int kMaxSteps = 40;  ///< of these, how many fall due one by one
constexpr int kOptions = 15;
constexpr float kNormal = 0.3f;  ///< each path's random number, the same for all steps
constexpr float kFirstRate = 0.05f;
constexpr float kShortfall = 100.0f;  ///< paid for each unit that a swap falls short of 1
