// The kernels, as PTX (kernels/*.ptx; cmake/cublas.cmake puts them into the library).
#pragma once

namespace raddle::cublas {

/// Text that ends with NUL, of a file without its ".ptx"; null when there is none.
const char* image(const char* name);

}  // namespace raddle::cublas
