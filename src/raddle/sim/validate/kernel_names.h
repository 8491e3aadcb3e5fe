// Names of kernels as different tools write them, made comparable.
//
// A simulation has the mangled name. Nsight Compute and Nsight Systems write it demangled by
// NVIDIA's own rules ("void <unnamed>::add<float, (int)256, (bool)1>(T1 *, int)"), the function's
// name alone, or mangled, as their options say (--print-kernel-base; a report's :base, :mangled).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace raddle::sim {

struct KernelName {
  std::string written;  ///< as it stands
  /// Namespaces and template arguments, in one spelling: "<unnamed>::add<float,256,1>". Without
  /// return type and parameters.
  std::string full;
  std::string base;   ///< "add"
  bool bare = false;  ///< nothing but the base was written
};

/// Of a mangled or demangled name, or that of a function alone.
KernelName kernel_name(std::string_view written);

/// How well two names agree.
enum class NameMatch : std::uint8_t { None, Base, Full, Same };
/// Base: one side or both say no more than the function's name, or say the rest otherwise.
NameMatch match(const KernelName& a, const KernelName& b);

}  // namespace raddle::sim
