#include "common/lookup3.h"

#include <bit>
#include <cstddef>

namespace raddle::workloads {

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
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (text.empty()) return c;
  add(text);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace raddle::workloads
