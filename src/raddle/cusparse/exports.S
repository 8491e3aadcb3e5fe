/* The exported symbols: one per function of cusparse.inc. One shared library answers for both versions of NVIDIA's; that
 * of CUDA 13 is version 12, too. */
#include "raddle/cuda_library/exports.inc"

.macro raddle_versions name, library
        raddle_version \name, \library, 11, @
        raddle_version \name, \library, 12, @@
.endm

#define HAVE(name) raddle_have libcusparse, name, raddle_##name;
#define HAVE_AS(name, body) raddle_have libcusparse, name, raddle_##body;
#define LACK(name) raddle_lack libcusparse, name;
#include "raddle/cusparse/cusparse.inc"
