#include "common/lookup3.h"

#include <bit>
#include <cstddef>

namespace raddle::workloads {

namespace {

using u32 = std::uint32_t;

void mix(u32& first, u32& second, u32& third, int turn) {
  first -= third;
  first ^= std::rotl(third, turn);
  third += second;
}

void finish(u32& to, u32 from, int turn) {
  to ^= from;
  to -= std::rotl(from, turn);
}

}  // namespace

std::uint32_t lookup3(std::string_view text) {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(text.size()), b = a, c = a;
  auto add = [&](std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::uint32_t byte = std::uint32_t{static_cast<unsigned char>(bytes[i])} << i % 4 * 8;
      (i < 4 ? a : i < 8 ? b : c) += byte;
    }
  };
  for (; text.size() > 12; text.remove_prefix(12)) {
    add(text.substr(0, 12));
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  if (text.empty()) return c;
  add(text);
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

}  // namespace raddle::workloads
