// Registries filled with every policy of the source tree (generated from the file names by CMake).
#pragma once
#include "raddle/policy/block/policy.h"
#include "raddle/policy/coherence/policy.h"
#include "raddle/policy/dispatch/policy.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/kernel/policy.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {

struct Registries {
  Registry<KernelPolicy> kernel;
  Registry<WarpPolicy> warp;
  Registry<ThrottlePolicy> throttle;
  Registry<BlockPolicy> block;
  Registry<CoherencePolicy> coherence;
  Registry<DramPolicy> dram;
};

/// A fresh set of registries with everything in it.
Registries all_policies();

}  // namespace raddle::policy
