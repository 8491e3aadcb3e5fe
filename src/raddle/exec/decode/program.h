// A PTX module made ready to run: every instruction decoded once.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/exec/isa/kernel_source.h"
#include "raddle/exec/isa/parameter_layout.h"
#include "raddle/exec/memory/memory.h"
#include "raddle/ptx/module.h"
#include "raddle/trace/code.h"

namespace raddle::exec {

struct Unsupported {
  std::string function, instruction;  ///< as written
  unsigned line, column;
  std::string file = {};  ///< "": the module's
};
/// Everything in the module that cannot be executed yet, each with its place.
std::vector<Unsupported> unsupported(const ptx::Module& module);

/// Functions that some function of the module calls or takes the address of, and that neither it
/// nor the machine has: for them NVIDIA's compiler refuses the module, whichever kernels are used.
/// Names of NVIDIA's runtime are not among them: the machine stands for it, and a kernel that calls
/// what the machine lacks is refused by itself.
std::vector<Diagnostic> unresolved(const ptx::Module& module);

/// A loaded module: its variables live in `memory`.
class Program final : public KernelSource {
 public:
  /// Allocates and initialises module variables. Throws InputError when memory is short or when a
  /// *reachable* instruction of a kernel is unsupported: only on kernel(), so that a module with
  /// one odd kernel still runs the others.
  Program(ptx::Module module, DeviceMemory& memory);
  ~Program();
  /// Decodes on first use. Throws InputError when there is no such entry (naming those that exist)
  /// or when it, or a function it calls, holds an unsupported instruction.
  const Kernel& kernel(std::string_view name) override;
  std::vector<std::string> kernel_names() const;
  const ptx::Module& module() const;
  struct Symbol {
    Address address;
    std::uint64_t size;
  };
  /// Module variable in global or const space.
  std::optional<Symbol> symbol(std::string_view name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

const std::shared_ptr<const trace::KernelCode>& code_of(const Kernel& kernel);
const ParameterLayout& parameters_of(const Kernel& kernel);

}  // namespace raddle::exec
