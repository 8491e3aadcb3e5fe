// Lengths of factors 2 to 13, in single precision.
#include "raddle/cufft/kernels/any.h"

ANY(fft_s_any_640, float, 640, 128, 4)
ANY(fft_s_any_2560, float, 2560, 256, 2)
