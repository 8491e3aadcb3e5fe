// A small GPU for tests: PTX in, launches, memory back. Functional only.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/decode/program.h"
#include "raddle/exec/run/machine.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::exec::test {

inline const std::string kHeader = ".version 7.8\n.target sm_80\n.address_size 64\n";

class Rig {
 public:
  explicit Rig(const std::string& ptx, MachineOptions options = {})
      : Rig(ptx::parse(kHeader + ptx, "test.ptx"), std::move(options)) {}
  explicit Rig(ptx::Module module, MachineOptions options = {})
      : memory(std::uint64_t{1} << 30), program(std::move(module), memory), machine(memory, [&] {
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
    Launch launch{&kernel, {grid, block, dynamic_shared}, parameters};
    launch.cooperative = cooperative;
    return launch;
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
  bool cooperative = false;
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

}  // namespace raddle::exec::test
