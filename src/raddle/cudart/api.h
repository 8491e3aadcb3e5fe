// What libcudart and libcuda export (api.inc, driver.inc), for documentation and tests.
#pragma once
#include <string>
#include <vector>

namespace raddle::cudart {

struct ApiFunction {
  std::string name;  ///< as exported, with _ptds or _ptsz where it is that one
  int first, last;   ///< versions of libcudart that have it
  bool supported;    ///< else it returns cudaErrorNotSupported
};

/// In order of api.inc; a name appears again where its interface has changed.
std::vector<ApiFunction> api_functions();

/// The table of docs/cuda.md: every function once, with its versions and whether we have it.
std::string api_table();

/// Likewise of libcuda.so.1: what we have of it, and how much we have not.
std::string driver_table();

}  // namespace raddle::cudart
