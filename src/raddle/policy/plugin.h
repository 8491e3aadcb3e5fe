// What a shared object with policies shows to the program: one entry, which
// `raddle plugin FILE.cpp` writes for a policy's file, so that the file is the same as one in this
// folder (docs/adding-a-policy.md, "Without building Raddle anew").
#pragma once
#include "raddle/policy/all.h"
#include "raddle/policy/interface_hash.h"  // generated

namespace raddle::policy {

struct PluginEntry {
  /// RADDLE_POLICY_INTERFACE of the headers it was compiled with.
  const char* interface_hash;
  void (*add)(Registries& all);
};

/// The entry's name in the shared object.
inline constexpr const char* kPluginSymbol = "raddle_plugin";

}  // namespace raddle::policy

#define RADDLE_PLUGIN(add_policies)                 \
  extern "C" __attribute__((visibility("default"))) \
  const raddle::policy::PluginEntry raddle_plugin;  \
  const raddle::policy::PluginEntry raddle_plugin = {RADDLE_POLICY_INTERFACE, add_policies};
