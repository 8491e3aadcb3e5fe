// Hints that memory will soon be touched.
#pragma once

namespace raddle {

/// Brings the cache line near. gcc takes a function that does nothing but prefetch for one without
/// any effect and removes its calls; the empty volatile asm keeps them.
inline void prefetch(const void* at) {
  __builtin_prefetch(at, 1);
  asm volatile("");
}

}  // namespace raddle
