// What a block of a pass does, and by which kernel.
#pragma once
#include "raddle/cufft/transform.h"

namespace raddle::cufft {

/// The longest line that a block can have.
int largest_block(bool in_double, bool power_of_two);

/// Sets the kernel, its grid, and how a block's lines lie in shared memory. `array`: elements of
/// the arrays that the pass's lines are part of. Throws Refusal when nothing fits.
void set_block(Step& step, const std::vector<int>& radices, int array, bool in_double);
/// The same for a kernel that splits or joins pairs, whose name says which.
void set_pair_block(Step& step, bool in_double);

}  // namespace raddle::cufft
