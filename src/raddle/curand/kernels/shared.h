// Code that kernels and the generators on the host share: both draw the same numbers.
#pragma once
#ifdef __CUDA__
#include "common/cuda_lite.h"
#define RADDLE_SHARED static __device__ __forceinline__
#define RADDLE_MEMBER __device__ __forceinline__
#else
#define RADDLE_SHARED inline
#define RADDLE_MEMBER inline
#endif
