// Sparse matrices with dense ones, both of 16 bits; sums are of single precision, and so may C be.
#include "raddle/cusparse/kernels/spmm.h"

using namespace raddle::cusparse;

SPMM_GATHERS(h, Half, Half, float)
SPMM_GATHERS(hs, Half, float, float)
SPMM_SCATTERS(hs, Half, float, float)
SPMM_GATHERS(b, Bfloat, Bfloat, float)
SPMM_GATHERS(bs, Bfloat, float, float)
SPMM_SCATTERS(bs, Bfloat, float, float)
