#include "raddle/base/threads.h"

#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "raddle/base/error.h"

namespace raddle {

unsigned startable_threads(unsigned wanted) {
  RADDLE_ASSERT(wanted > 0);
  std::latch counted(1);  // until then all of them live
  std::vector<std::thread> others;
  others.reserve(wanted - 1);
  try {
    while (others.size() + 1 < wanted) others.emplace_back([&] { counted.wait(); });
  } catch (const std::system_error&) {
    // That was one too many.
  }
  counted.count_down();
  for (std::thread& other : others) other.join();
  return static_cast<unsigned>(others.size()) + 1;
}

}  // namespace raddle
