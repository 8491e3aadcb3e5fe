#include "raddle/lowering/lowering_spec.h"

namespace raddle::lowering {

void LoweringSpec::visit(FieldVisitor& v) {
  v.choice("lowering", lowering, kLevelNames,
           "ptx executes PTX instructions one by one, machine what an assembler makes of them");
  v.choice("generation", generation, kGenerationNames,
           "whose machine instructions, with lowering = machine or registers = machine");
  v.choice("address_bits", address_bits, kAddressBitsNames,
           "of an address of global memory in machine code: with 32 it takes one register");
  v.choice("registers", registers, kRegistersNames,
           "registers of a thread: as many as the PTX text keeps values at once, or as its machine "
           "code does (with lowering = machine always so), or as the program's own machine code "
           "takes, where it brings some, else as before");
  v.choice("order", order, kOrderNames,
           "of a basic block's instructions: as PTX has them, or with lowering = machine as an "
           "assembler leaves them, or (list_scheduled) as one does that also hides latencies of "
           "arithmetic; live runs keep PTX's");
}

}  // namespace raddle::lowering
