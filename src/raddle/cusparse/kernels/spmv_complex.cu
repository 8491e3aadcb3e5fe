// Sparse matrices with vectors, of complex numbers.
#include "raddle/cusparse/kernels/spmv.h"

using namespace raddle::cusparse;

SPMV_GATHERS(c, ComplexFloat, ComplexFloat, ComplexFloat)
SPMV_SCATTERS(c, ComplexFloat, ComplexFloat, ComplexFloat)
SPMV_GATHERS(z, ComplexDouble, ComplexDouble, ComplexDouble)
SPMV_SCATTERS(z, ComplexDouble, ComplexDouble, ComplexDouble)
