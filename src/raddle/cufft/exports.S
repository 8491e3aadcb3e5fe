/* The exported symbols: one per function of cufft.inc. One shared library answers for three versions of NVIDIA's, of
 * CUDA 11, 12 and 13. */
#include "raddle/cuda_library/exports.inc"

.macro raddle_versions name, library
        raddle_version \name, \library, 10, @
        raddle_version \name, \library, 11, @
        raddle_version \name, \library, 12, @@
.endm

#define HAVE(name) raddle_have libcufft, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcufft, name, raddle_##body;
#define LACK(name) raddle_lack libcufft, name;
#include "raddle/cufft/cufft.inc"
