// Library functions one by one, to be run against the host's: y[i] = f(x[i]).
#define F64(name) extern "C" __global__ void f64_##name(const double* x, double* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = name(x[i]); }
#define F32(name) extern "C" __global__ void f32_##name(const float* x, float* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = name(x[i]); }
F64(sin) F64(cos) F64(tan) F64(exp) F64(exp2) F64(log) F64(log2) F64(log10) F64(log1p) F64(expm1)
F64(sqrt) F64(cbrt) F64(atan) F64(asin) F64(tanh) F64(erf) F64(tgamma)
F32(sinf) F32(cosf) F32(tanf) F32(expf) F32(exp2f) F32(logf) F32(log2f) F32(log10f) F32(cbrtf)
F32(atanf) F32(tanhf) F32(erff) F32(sqrtf)
extern "C" __global__ void f64_pow(const double* x, const double* e, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = pow(x[i], e[i]);
}
extern "C" __global__ void f32_powf(const float* x, const float* e, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = powf(x[i], e[i]);
}
