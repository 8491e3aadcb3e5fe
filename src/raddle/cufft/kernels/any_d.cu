// Lengths of factors 2 to 13, in double precision.
#include "raddle/cufft/kernels/any.h"

ANY(fft_d_any_512, double, 512, 128, 4)
ANY(fft_d_any_1200, double, 1200, 256, 2)
