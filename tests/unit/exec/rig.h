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
  unsigned count, transactions_field;
  std::uint32_t mask;
  std::vector<trace::Transaction> transactions;
};
inline bool operator==(const Op& a, const Op& b) {
  return a.inst == b.inst && a.count == b.count && a.transactions_field == b.transactions_field &&
         a.mask == b.mask && a.transactions.size() == b.transactions.size() &&
         (a.transactions.empty() ||
          std::memcmp(a.transactions.data(), b.transactions.data(),
                      a.transactions.size() * sizeof(trace::Transaction)) == 0);
}
inline void append_ops(const trace::KernelCode& code, const std::uint32_t* at,
                       const std::uint32_t* end, std::vector<Op>& ops) {
  while (at < end) {
    const trace::Record r{at[0], at[1]};
    at += 2;
    Op op{r.inst(), r.count(), r.transactions(), r.mask, {}};
    const bool has_transactions = carries_transactions(code.instructions.at(r.inst()).kind);
    for (unsigned p = 0; has_transactions && p < r.transactions(); ++p, at += 3)
      op.transactions.push_back({at[0], at[1], at[2]});
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
