// What events cost: table [energy] of a machine file, in picojoule. The defaults are
// orders of magnitude of a 40 nm chip, our choice, for machines whose papers give relative energy
// only; docs/energy.md has them and what else is known.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "raddle/base/fields.h"
#include "raddle/trace/code.h"

namespace raddle::energy {

/// An event's energy: read as picojoule, kept as whole femtojoule, so that sums are exact.
class Cost {
 public:
  constexpr Cost() = default;
  constexpr explicit Cost(double picojoule) : femtojoule_(rounded(picojoule)) {}
  constexpr std::uint64_t femtojoule() const { return femtojoule_; }
  constexpr double picojoule() const { return static_cast<double>(femtojoule_) / 1000.0; }

 private:
  static constexpr std::uint64_t rounded(double picojoule) {
    return static_cast<std::uint64_t>(picojoule * 1000.0 + 0.5);
  }
  std::uint64_t femtojoule_ = 0;
};

struct EnergySpec {
  std::string table;     ///< of energy/, whose numbers hold where the machine file has none
  Cost instruction{60};  ///< warp instruction: fetch, decode, schedule
  Cost register_read{50}, register_write{50};
  std::array<Cost, trace::kOpClasses> lane = {
      Cost{8},  Cost{8},  Cost{8},  Cost{30}, Cost{8}, Cost{8},  Cost{8}, Cost{30}, Cost{20},
      Cost{30}, Cost{30}, Cost{30}, Cost{0},  Cost{0}, Cost{30}, Cost{0}, Cost{0}};
  Cost constant{15}, shared_pass{60};
  Cost l1d_probe{8}, l1d_read{60}, l1d_write{65};
  Cost l2_read{200}, l2_write{200};
  Cost flit_hop{18};
  Cost dram_read_byte{120}, dram_write_byte{120}, dram_activate{0}, dram_refresh{0};
  Cost core_active{400}, core_stalled{400}, core_idle{300};
  Cost l2_slice_cycle{60}, chip_cycle{0};
  void visit(FieldVisitor& v);
};

}  // namespace raddle::energy
