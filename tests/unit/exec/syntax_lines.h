// One instruction in a kernel with registers of every type, and what is refused of it.
#pragma once
#include <string>

#include "rig.h"

namespace raddle::exec::test {

inline std::string module_of(const std::string& body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n.global .align 16 .b8 gv[64];\n"
         ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
         ".shared .align 16 .b8 sh[64];\n"
         ".reg .b8 c<9>; .reg .b16 h<9>; .reg .u16 hu<9>; .reg .f16 hf<9>; .reg .b32 r<9>;\n"
         ".reg .u32 ru<9>; .reg .f16x2 rh<9>; .reg .f32 f<9>; .reg .b64 d<9>; .reg .u64 du<9>;\n"
         ".reg .f64 e<9>; .reg .b128 x<9>; .reg .pred q<9>;\n" +
         body + "\nret;\n}\n";
}

/// What is refused of it, a line each.
inline std::string refusal_of(const std::string& body) {
  std::string all;
  for (const Unsupported& refused : unsupported(ptx::parse(module_of(body), "k.ptx")))
    all += std::to_string(refused.line) + ": " + refused.instruction + "\n";
  return all;
}

}  // namespace raddle::exec::test
