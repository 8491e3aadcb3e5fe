// What our libraries for CUDA programs (room cuda_library) ask the driver for beside its public
// functions, as NVIDIA's ask theirs: a table, by cuGetExportTable.
#pragma once
#include <cstddef>

namespace raddle::cudart {

/// CUuuid of the table.
inline constexpr unsigned char kLibraryTable[16] = {'r', 'a', 'd', 'd', 'l', 'e', ' ', 'l',
                                                    'i', 'b', 'r', 'a', 'r', 'y', ' ', '1'};

struct LibraryTable {
  std::size_t bytes;
  /// The run has failed: a function that we do not have was called, which returns `code`.
  void (*unsupported)(const char* function, const char* code);
};

}  // namespace raddle::cudart
