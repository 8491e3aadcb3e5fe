// A small GPU for tests: PTX in, launches, memory back. Functional only.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/machine.h"
#include "raddle/exec/program.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::exec::test {

inline const std::string kHeader = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// The builds of the lane engine that this processor can run.
inline std::vector<std::string> lane_builds() {
  std::vector<std::string> names{"portable"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    names.push_back("avx512");
  return names;
}
/// Chooses a build for the machines made from here on.
inline void use_lanes(const std::string& name) { setenv("RADDLE_LANES", name.c_str(), 1); }

class Rig {
 public:
  explicit Rig(const std::string& ptx, MachineOptions options = {})
      : memory(std::uint64_t{1} << 30),
        program(ptx::parse(kHeader + ptx, "test.ptx"), memory),
        machine(memory, [&] {
          if (!options.print) options.print = [this](std::string_view s) { printed += s; };
          return options;
        }()) {}

  template <class T>
  Address upload(const std::vector<T>& values) {
    const Address at = memory.allocate(values.size() * sizeof(T)).value();
    std::memcpy(memory.host(at), values.data(), values.size() * sizeof(T));
    return at;
  }
  Address zeros(std::size_t bytes) { return upload(std::vector<std::uint8_t>(bytes)); }
  template <class T>
  std::vector<T> download(Address at, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.host(at), count * sizeof(T));
    return values;
  }

  /// Arguments in declaration order, each with its own C++ type.
  template <class... Ts>
  Launch launch(const std::string& name, Dim3 grid, Dim3 block, const Ts&... arguments) {
    const Kernel& kernel = program.kernel(name);
    const ParameterLayout& layout = parameters_of(kernel);
    parameters.assign(layout.bytes, std::byte{});
    std::size_t i = 0;
    ((std::memcpy(parameters.data() + layout.items.at(i++).offset, &arguments, sizeof(Ts))), ...);
    return {&kernel, {grid, block, dynamic_shared}, parameters};
  }
  template <class... Ts>
  RunCount run(const std::string& name, Dim3 grid, Dim3 block, const Ts&... arguments) {
    const Launch l = launch(name, grid, block, arguments...);
    return machine.run(l, nullptr);
  }
  /// Runs and keeps the op stream.
  template <class... Ts>
  std::unique_ptr<trace::MemoryTrace> record(const std::string& name, Dim3 grid, Dim3 block,
                                             const Ts&... arguments) {
    const Launch l = launch(name, grid, block, arguments...);
    auto kept = std::make_unique<trace::MemoryTrace>(code_of(*l.kernel), l.shape);
    machine.run(l, kept.get());
    return kept;
  }

  std::uint32_t dynamic_shared = 0;
  std::string printed;
  DeviceMemory memory;
  Program program;
  Machine machine;
  std::vector<std::byte> parameters;
};

/// Message of the RunError that `action` throws; fails when there is none.
template <class F>
std::string run_error(F action) {
  try {
    action();
  } catch (const RunError& e) {
    return e.what();
  }
  ADD_FAILURE() << "no RunError";
  return "";
}

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
