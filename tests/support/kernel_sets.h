// Sets of launch slots, written as their members.
#pragma once
#include <initializer_list>

#include "raddle/base/mask.h"

namespace raddle::support {

inline KernelSet kernel_set(std::initializer_list<unsigned> slots) {
  KernelSet set;
  for (const unsigned slot : slots) set.set(slot);
  return set;
}

}  // namespace raddle::support
