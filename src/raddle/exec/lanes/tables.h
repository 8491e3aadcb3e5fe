// The operations outside the dispatch switch: one function each, found by number.
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

using TableFunction = void (*)(const Record* ip, char* frame, u32 e);
extern const TableFunction kConvertTable[], kFloatTable[], kHalfTable[], kIntegerTable[];

/// Precondition: kFirstTableOp <= ip->op < kAluOps.
void run_table(const Record* ip, char* frame, u32 e);

}  // namespace raddle::exec::RADDLE_ISA
