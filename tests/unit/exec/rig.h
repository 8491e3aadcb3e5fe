// The small GPU of support/exec_rig.h, builds of the lane engine, and op streams in words.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/decode/program.h"
#include "raddle/exec/run/machine.h"
#include "raddle/trace/memory_trace.h"
#include "support/exec_rig.h"

namespace raddle::exec::test {

/// The builds of the lane engine that this processor can run.
inline std::vector<std::string> lane_builds() {
  std::vector<std::string> names{"portable"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    names.push_back("avx512");
#endif
  return names;
}
/// Chooses a build for the machines made from here on.
inline void use_lanes(const std::string& name) { setenv("RADDLE_LANES", name.c_str(), 1); }

/// One record of a stream with its pieces.
struct Op {
  std::uint32_t inst;
  unsigned count, pieces_field;
  std::uint32_t mask;
  std::vector<trace::Piece> pieces;
};
inline bool operator==(const Op& a, const Op& b) {
  return a.inst == b.inst && a.count == b.count && a.pieces_field == b.pieces_field &&
         a.mask == b.mask && a.pieces.size() == b.pieces.size() &&
         (a.pieces.empty() || std::memcmp(a.pieces.data(), b.pieces.data(),
                                          a.pieces.size() * sizeof(trace::Piece)) == 0);
}
inline void append_ops(const trace::KernelCode& code, const std::uint32_t* at,
                       const std::uint32_t* end, std::vector<Op>& ops) {
  using K = trace::OpKind;
  while (at < end) {
    const trace::Record r{at[0], at[1]};
    at += 2;
    Op op{r.inst(), r.count(), r.pieces(), r.mask, {}};
    const K kind = code.instructions.at(r.inst()).kind;
    const bool has_pieces = kind == K::LoadGlobal || kind == K::StoreGlobal ||
                            kind == K::AtomicGlobal || kind == K::ReduceGlobal ||
                            kind == K::LoadLocal || kind == K::StoreLocal;
    for (unsigned p = 0; has_pieces && p < r.pieces(); ++p, at += 3)
      op.pieces.push_back({at[0], at[1], at[2]});
    ops.push_back(op);
  }
}
inline std::vector<Op> ops_of(trace::KernelStream& stream, std::uint32_t block, unsigned warp) {
  std::vector<Op> ops;
  trace::WarpCursor cursor = stream.open(block, warp);
  do append_ops(stream.code(), cursor.at, cursor.end, ops);
  while (stream.refill(cursor));
  return ops;
}

}  // namespace raddle::exec::test
