// The functions of isa/float.def.
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/tables.h"

namespace raddle::exec::RADDLE_ISA {

#include "raddle/exec/isa/float.def"

namespace {
template <class F>
void function_of(const Record* ip, char* frame, u32 e) {
  alu<F>(ip, frame, e);
}
}  // namespace

#undef ALU
#define ALU(name, ...) function_of<F_##name>,
const TableFunction kFloatTable[] = {
#include "raddle/exec/isa/float.def"
};

}  // namespace raddle::exec::RADDLE_ISA
