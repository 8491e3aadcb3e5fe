// How running code reaches the other kernels of its module.
#pragma once
#include <string_view>

namespace raddle::exec {

/// One kernel, decoded. Opaque outside exec.
class Kernel;

/// The kernels of a module, each decoded when it is first asked for.
class KernelSource {
 public:
  /// Throws InputError as Program::kernel() does.
  virtual const Kernel& kernel(std::string_view name) = 0;

 protected:
  ~KernelSource() = default;
};

}  // namespace raddle::exec
