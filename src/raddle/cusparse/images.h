// The kernels, as PTX (kernels/*.ptx; cmake/cuda_libraries.cmake puts them into the library).
#pragma once

namespace raddle::cusparse {

/// Text that ends with NUL, of a file without its ".ptx"; null when there is none.
const char* image(const char* name);

}  // namespace raddle::cusparse
