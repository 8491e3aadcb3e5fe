// Names of cudaError_t.
#pragma once

namespace raddle::cudart {

/// "cudaErrorInvalidValue"; "unrecognized error code" for what is none.
const char* error_name(int code);
/// A few words, as cudaGetErrorString gives them.
const char* error_text(int code);

}  // namespace raddle::cudart
