#include "raddle/lowering/lowering_spec.h"

namespace raddle::lowering {

void LoweringSpec::visit(FieldVisitor& v) {
  v.choice("lowering", lowering, kLevelNames,
           "ptx executes PTX instructions one by one, machine what an assembler makes of them");
  v.choice("generation", generation, kGenerationNames,
           "whose machine instructions, with lowering = machine");
}

}  // namespace raddle::lowering
