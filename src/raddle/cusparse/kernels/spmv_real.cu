// Sparse matrices with vectors, of single and double precision.
#include "raddle/cusparse/kernels/spmv.h"

SPMV_GATHERS(s, float, float, float)
SPMV_SCATTERS(s, float, float, float)
SPMV_GATHERS(d, double, double, double)
SPMV_SCATTERS(d, double, double, double)
