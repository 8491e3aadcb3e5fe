// Random functions for the analyses: real PTX text, so that the parser is exercised as well.
#pragma once
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "unit/ptx/support.h"

namespace raddle::ptx::test {

struct GraphShape {
  unsigned blocks = 8;
  unsigned registers = 6;  ///< of each type; at most 20, as many as %rs has, and 10 predicates
  unsigned longest = 4;    ///< plain instructions per block
};

/// Blocks with random branches: plain, guarded, by table, guarded and plain ends of the thread,
/// falling through.
inline std::string random_body(std::mt19937& random, const GraphShape& shape) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto reg = [&](std::string_view prefix) {
    const unsigned count = prefix == "%p" ? std::min(shape.registers, 10u) : shape.registers;
    return std::string(prefix) + std::to_string(below(count));
  };
  const auto label = [&] { return "L" + std::to_string(below(shape.blocks)); };
  const auto guard = [&]() -> std::string { return below(4) == 0 ? "@" + reg("%p") + " " : ""; };
  std::string body;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    body += "L" + std::to_string(block) + ":\n";
    for (unsigned i = below(shape.longest + 1); i-- > 0;) {
      switch (below(6)) {
        case 0:
          body += guard() + "add.s32 " + reg("%r") + ", " + reg("%r") + ", " + reg("%r");
          break;
        case 1:
          body += guard() + "add.s64 " + reg("%rd") + ", " + reg("%rd") + ", 1";
          break;
        case 2:
          body += guard() + "setp.eq.s32 " + reg("%p") + "|" + reg("%p") + ", " + reg("%r") + ", 0";
          break;
        case 3:
          body += guard() + "mov.b64 {" + reg("%r") + ", " + reg("%r") + "}, " + reg("%rd");
          break;
        case 4:
          body += guard() + "st.global.b16 [" + reg("%rd") + "], " + reg("%rs");
          break;
        default:
          body += guard() + "ld.global.b16 " + reg("%rs") + ", [" + reg("%rd") + "+2]";
          break;
      }
      body += ";\n";
    }
    switch (below(8)) {
      case 0:
        body += "bra " + label() + ";\n";
        break;
      case 1:
      case 2:
        body += "@" + reg("%p") + " bra " + label() + ";\n";
        break;
      case 3:
        body += "T" + std::to_string(block) + ": .branchtargets " + label() + ", " + label() +
                ", " + label() + ";\n" + guard() + "brx.idx " + reg("%r") + ", T" +
                std::to_string(block) + ";\n";
        break;
      case 4:
        body += guard() + (below(2) == 0 ? "ret;\n" : "exit;\n");
        break;
      case 5:
        body += "@!" + reg("%p") + " bra " + label() + ";\nbra " + label() + ";\n";
        break;
      default:
        break;
    }
  }
  return body;
}

}  // namespace raddle::ptx::test
