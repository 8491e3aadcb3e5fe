// A workload: host code, kernels, and a check against a CPU reference. One folder under workloads/,
// found by CMake: workloads/<name>/<name>.cpp ends with
//     void add_workload_<name>(Workloads& w) { w.add<VecAdd>("vecadd", "one line"); }
// and kernels.ptx beside it is embedded (see embedded_ptx).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/fields.h"
#include "raddle/runtime/device.h"

namespace raddle::runtime {

enum class Size : std::uint8_t { Tiny, Small, Paper };
inline constexpr std::array<std::string_view, 3> kSizeNames = {"tiny", "small", "paper"};

class Workload {
 public:
  virtual ~Workload() = default;
  /// Parameters take the values of a named size; visit() may change single ones afterwards.
  virtual void set_size(Size size) = 0;
  virtual void visit(FieldVisitor& v) = 0;
  /// One sentence per contradiction among the parameters; empty = sound.
  virtual std::vector<std::string> violations() const { return {}; }
  /// 10 x major + minor of the first compute capability that has its instructions; 0: all do.
  virtual std::uint32_t min_capability() const { return 0; }
  /// Makes the inputs from `seed` (same seed, same inputs), uploads, launches, downloads. Called
  /// once.
  virtual void run(Device& device, std::uint64_t seed) = 0;
  /// After run(): "" when the downloaded result agrees with the CPU reference, else what differs
  /// first and by how much.
  virtual std::string check() = 0;
  /// False for workloads that have no reference to check against.
  virtual bool checked() const { return true; }
  /// After run(): xxh64 over all inputs.
  virtual std::uint64_t input_hash() const = 0;
};

class Workloads {
 public:
  template <class W>
  void add(std::string_view name, std::string_view doc) {
    makers_[std::string(name)] = {std::string(doc),
                                  [] { return std::unique_ptr<Workload>(new W); }};
  }
  /// Throws InputError naming the known ones.
  std::unique_ptr<Workload> make(std::string_view name) const;
  std::vector<std::string> names() const;
  std::string_view doc(std::string_view name) const;

 private:
  struct Maker {
    std::string doc;
    std::function<std::unique_ptr<Workload>()> make;
  };
  std::map<std::string, Maker, std::less<>> makers_;
};

/// Every workload of the source tree (generated).
Workloads all_workloads();
/// Text of workloads/<name>/kernels.ptx as of the build (generated).
std::string_view embedded_ptx(std::string_view workload);
/// Text of workloads/registers.csv as of the build (generated).
std::string_view embedded_registers();
/// Registers of the workload's kernels in what ptxas makes of them, for the GPUs looked at.
ptx::KernelRegisters registers_of(std::string_view workload);

}  // namespace raddle::runtime
