// Sparse matrices with vectors, both of 16 bits; sums are of single precision, and so may y be.
#include "raddle/cusparse/kernels/spmv.h"

using namespace raddle::cusparse;

SPMV_GATHERS(h, Half, Half, float)
SPMV_GATHERS(hs, Half, float, float)
SPMV_SCATTERS(hs, Half, float, float)
SPMV_GATHERS(b, Bfloat, Bfloat, float)
SPMV_GATHERS(bs, Bfloat, float, float)
SPMV_SCATTERS(bs, Bfloat, float, float)
