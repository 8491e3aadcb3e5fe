// Powers of two that are not done directly, in single precision.
#include "raddle/cufft/kernels/general.h"

GENERAL(fft_s_general_1024, float, 1024, 6)
GENERAL(fft_s_general_4096, float, 4096, 2)
