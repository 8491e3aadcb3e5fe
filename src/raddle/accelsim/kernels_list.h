// kernelslist.g: what the host did, a command a line.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace raddle::accelsim {

struct Command {
  unsigned line = 0;
  std::string kernel_file;               ///< empty: a copy to the device
  std::uint64_t address = 0, bytes = 0;  ///< of a copy
};

/// Lines that begin with neither "kernel" nor "MemcpyHtoD" are passed over, as Accel-Sim does.
/// Throws InputError naming file and line.
std::vector<Command> read_kernels_list(const std::string& path);

/// Is the file meant by its name: kernelslist.g, or another that ends in ".g"?
bool is_kernels_list(const std::string& path);

}  // namespace raddle::accelsim
