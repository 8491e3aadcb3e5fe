// What tensor instructions compute with (LaneEngine in exec/isa/record.h).
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

void add_products(const RealProduct& product);
void widen_halves(const u16* halves, u32 count, f64* values);
void take_sums(const f32* even, const f32* odd, f64* sums, u32 pitch);
void give_sums(const f64* sums, u32 pitch, f32* even, f32* odd);

}  // namespace raddle::exec::RADDLE_ISA
