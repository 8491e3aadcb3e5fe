// Powers of two that are not done directly, in double precision.
#include "raddle/cufft/kernels/general.h"

GENERAL(fft_d_general_1024, double, 1024, 4)
GENERAL(fft_d_general_2048, double, 2048, 2)
