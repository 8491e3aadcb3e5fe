// Where a kernel's parameters lie in the bytes that a launch brings.
#pragma once
#include <cstdint>
#include <vector>

namespace raddle::exec {

struct ParameterLayout {
  struct Item {
    std::uint32_t offset, size;
  };
  std::vector<Item> items;
  std::uint32_t bytes = 0;
};

}  // namespace raddle::exec
