/* The exported symbols: one per function of curand.inc. NVIDIA's library has had one version from CUDA 10 on. */
#include "raddle/cuda_library/exports.inc"

.macro raddle_versions name, library
        raddle_version \name, \library, 10, @@
.endm

#define HAVE(name) raddle_have libcurand, name, raddle_##name;
#define LACK(name) raddle_lack libcurand, name;
#include "raddle/curand/curand.inc"
