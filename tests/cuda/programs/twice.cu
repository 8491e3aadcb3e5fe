// A module for driver_load.cu.
extern "C" __global__ void twice(unsigned* data) { data[threadIdx.x] *= 2; }
