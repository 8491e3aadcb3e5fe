// What a reset does to what the process holds of its one context. A module that is a part of the
// program would be loaded anew at its next use; here it stays where it is and its variables get
// their first values again, so that a reset costs no memory. What kernels have taken from their
// heap stays with it, and the caches are as warm as they were.
#include "raddle/cudart/reset.h"

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cudart/array.h"
#include "raddle/cudart/capture.h"

namespace raddle::cudart {

namespace {

/// Not a texture or surface reference, which holds the handle of an object.
bool in_memory(const ptx::Variable& v) {
  return (v.space == ptx::Space::Global || v.space == ptx::Space::Const) &&
         v.type != ptx::Type::SampRef && v.size != 0;
}

std::byte* bytes_of_variable(Context& c, const Module& module, const ptx::Variable& v) {
  return c.device().host(c.device().symbol(*module.id, v.name), v.size, "variable " + v.name);
}

void initialise(Context& c, const Module& module) {
  for (const ptx::Variable& v : c.device().module(*module.id).variables) {
    if (!in_memory(v)) continue;
    std::byte* const to = bytes_of_variable(c, module, v);
    if (const auto kept = module.relocated.find(v.name); kept != module.relocated.end()) {
      RADDLE_ASSERT(kept->second.size() == v.size);
      std::memcpy(to, kept->second.data(), v.size);
      continue;
    }
    RADDLE_ASSERT(v.initial.size() <= v.size);
    std::memset(to + v.initial.size(), 0, v.size - v.initial.size());
    if (!v.initial.empty()) std::memcpy(to, v.initial.data(), v.initial.size());
  }
}

void forget_attributes(Kernel& kernel) {
  kernel.max_dynamic_shared_bytes = kernel.carveout = -1;
  kernel.large_clusters = false;
}

void reset_modules(Context& c) {
  c.modules.each([&](Module& module) {
    const bool of_program = module.wrapper != nullptr;
    if (!of_program && !module.library) module.unloaded = true;
    else if (module.id) initialise(c, module);
  });
  c.kernels.each(forget_attributes);
}

void free_memory(Context& c) {
  for (const auto& [texture, made_of] : c.textures) c.device().machine().destroy_texture(texture);
  for (const auto& [surface, made_of] : c.surfaces) c.device().machine().destroy_surface(surface);
  c.textures.clear();
  c.surfaces.clear();
  c.arrays.clear();
  for (const auto& [at, allocation] : c.allocations) c.device().release(at);
  c.allocations.clear();
  // By their own addresses: the host's differ from run to run, and who comes first is given first.
  std::vector<Address> mirrors;
  for (const auto& [start, range] : c.registered)
    if (range.mirror != 0) mirrors.push_back(range.mirror);
  std::ranges::sort(mirrors);
  for (const Address mirror : mirrors) c.device().release(mirror);
  c.registered.clear();
}

void forget_limits(Context& c) {
  const exec::MachineOptions fresh;
  c.limits.clear();
  c.device().machine().set_stack_bytes(fresh.stack_bytes);
  c.device().machine().set_heap_bytes(fresh.heap_bytes);
  c.device().limit_pending_launches(exec::kPendingLaunches);
}

}  // namespace

void keep_initial(Context& c, Module& module) {
  RADDLE_ASSERT(module.id.has_value());
  for (const ptx::Variable& v : c.device().module(*module.id).variables) {
    if (!in_memory(v) || v.relocations.empty()) continue;
    const std::byte* const from = bytes_of_variable(c, module, v);
    module.relocated[v.name].assign(from, from + v.size);
  }
}

void reset(Context& c) {
  whole_device_call(c);
  RADDLE_ASSERT(c.captures.empty());
  // There is one memory, and what is another context's would go with it.
  if (c.driver_contexts.size() > (c.primary != nullptr ? 1u : 0u))
    c.refuse_unsupported("a reset of the device beside contexts of cuCtxCreate");
  c.device().synchronize();
  c.graph_execs.clear();
  c.graphs.clear();
  c.streams.clear();
  c.events.clear();
  free_memory(c);
  c.pools.clear();
  c.default_pool = c.current_pool = nullptr;
  reset_modules(c);
  forget_limits(c);
  ++c.resets;  // streams of threads are no more
}

}  // namespace raddle::cudart
