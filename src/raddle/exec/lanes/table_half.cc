// The functions of isa/half.def.
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/tables.h"

namespace raddle::exec::RADDLE_ISA {

#include "raddle/exec/isa/half.def"

namespace {
template <class F>
void function_of(const Record* ip, char* frame, u32 e) {
  alu<F>(ip, frame, e);
}
}  // namespace

#undef ALU
#define ALU(name, ...) function_of<F_##name>,
const TableFunction kHalfTable[] = {
#include "raddle/exec/isa/half.def"
};

}  // namespace raddle::exec::RADDLE_ISA
