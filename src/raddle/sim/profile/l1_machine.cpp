#include "raddle/sim/profile/l1_machine.h"

namespace raddle::sim {

L1Machine observed_l1(const timing::MachineSpec& machine) {
  const timing::L1dSpec& l1 = machine.sm.l1d;
  const unsigned sectors = machine.l2.line_bytes / machine.l2.sector_bytes;
  RADDLE_ASSERT(sectors >= 1 && sectors <= 8);  // a mask of them is one byte
  analysis::L1Rules rules;
  rules.line_bytes = machine.l2.line_bytes;
  rules.line_sectors = static_cast<std::uint8_t>((1u << sectors) - 1);
  rules.store_evicts = l1.write_policy == timing::WritePolicy::WriteEvict;
  rules.local_store_evicts = l1.local_write_policy == timing::WritePolicy::WriteEvict;
  rules.bypassing_load_evicts = l1.keeps_dirty() || l1.store_buffer != 0;
  return {.sms = machine.sm.count, .size_kib = l1.size_kib, .ways = l1.ways, .rules = rules};
}

}  // namespace raddle::sim
