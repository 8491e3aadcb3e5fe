// Powers of two in single precision. A block has 1,024 elements; more where its threads go by lines
// (eight of them, or four), or where a line is longer.
#include "raddle/cufft/kernels/direct.h"

DIRECT(s, float, 8, 3, 128, 7)
DIRECT(s, float, 16, 4, 64, 6)
DIRECT(s, float, 32, 5, 32, 5)
DIRECT(s, float, 64, 6, 16, 4)
DIRECT(s, float, 128, 7, 8, 3)
DIRECT(s, float, 256, 8, 4, 2)
DIRECT(s, float, 256, 8, 8, 3)
DIRECT(s, float, 512, 9, 2, 1)
DIRECT(s, float, 512, 9, 8, 3)
DIRECT(s, float, 1024, 10, 1, 0)
DIRECT(s, float, 1024, 10, 4, 2)
DIRECT(s, float, 2048, 11, 1, 0)
DIRECT(s, float, 4096, 12, 1, 0)
