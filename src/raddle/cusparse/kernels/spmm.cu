// Sparse matrices with dense ones, of single and double precision, real and complex.
#include "raddle/cusparse/kernels/spmm.h"

using namespace raddle::cusparse;

SPMM_GATHERS(s, float, float, float)
SPMM_SCATTERS(s, float, float, float)
SPMM_GATHERS(d, double, double, double)
SPMM_SCATTERS(d, double, double, double)
SPMM_GATHERS(c, ComplexFloat, ComplexFloat, ComplexFloat)
SPMM_SCATTERS(c, ComplexFloat, ComplexFloat, ComplexFloat)
SPMM_GATHERS(z, ComplexDouble, ComplexDouble, ComplexDouble)
SPMM_SCATTERS(z, ComplexDouble, ComplexDouble, ComplexDouble)
