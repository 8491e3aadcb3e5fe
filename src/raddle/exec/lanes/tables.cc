// Finds the function of an operation number. The lists follow each other in Op in this order
// (record.h).
#include "raddle/exec/lanes/tables.h"

namespace raddle::exec::RADDLE_ISA {

namespace {
#define ALU(name, ...) +1
#define SETP(name, ...) +1
constexpr u32 kConverts = 0
#include "raddle/exec/isa/convert.def"
    ;
constexpr u32 kFloats = 0
#include "raddle/exec/isa/float.def"
    ;
constexpr u32 kHalves = 0
#include "raddle/exec/isa/half.def"
    ;
#undef ALU
#undef SETP
}  // namespace

void run_table(const Record* ip, char* frame, u32 e) {
  u32 at = ip->op - u32(kFirstTableOp);
  if (at < kConverts) return kConvertTable[at](ip, frame, e);
  at -= kConverts;
  if (at < kFloats) return kFloatTable[at](ip, frame, e);
  at -= kFloats;
  if (at < kHalves) return kHalfTable[at](ip, frame, e);
  kIntegerTable[at - kHalves](ip, frame, e);
}

}  // namespace raddle::exec::RADDLE_ISA
