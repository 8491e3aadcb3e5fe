/* The exported symbols: one per function of cublas.inc and cublas_lt.inc. One shared library answers for both of NVIDIA's
 * and for their three versions. */
#include "raddle/cuda_library/exports.inc"

.macro raddle_versions name, library
        raddle_version \name, \library, 11, @
        raddle_version \name, \library, 12, @
        raddle_version \name, \library, 13, @@
.endm

#define HAVE(name) raddle_have libcublas, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcublas, name, raddle_##body;
#define LACK(name) raddle_lack libcublas, name;
#include "raddle/cublas/cublas.inc"
#undef HAVE
#undef HAVE_AS
#undef LACK
#define HAVE(name) raddle_have libcublasLt, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcublasLt, name, raddle_##body;
#define LACK(name) raddle_lack libcublasLt, name;
#include "raddle/cublas/cublas_lt.inc"
