// Powers of two in double precision. A block has 1,024 elements, or 2,048 where its threads go by
// lines (four of them, or two), or where a line is longer.
#include "raddle/cufft/kernels/direct.h"

DIRECT(d, double, 8, 3, 128, 7)
DIRECT(d, double, 16, 4, 64, 6)
DIRECT(d, double, 32, 5, 32, 5)
DIRECT(d, double, 64, 6, 16, 4)
DIRECT(d, double, 128, 7, 8, 3)
DIRECT(d, double, 256, 8, 4, 2)
DIRECT(d, double, 512, 9, 2, 1)
DIRECT(d, double, 512, 9, 4, 2)
DIRECT(d, double, 1024, 10, 1, 0)
DIRECT(d, double, 1024, 10, 2, 1)
DIRECT(d, double, 2048, 11, 1, 0)
