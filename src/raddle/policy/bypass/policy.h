// Level "bypass": which loads that do not find their data in an L1D go past it. Such a load takes
// neither a way nor an MSHR: the L2 answers the warp alone, and the cache stays as it is. One
// instance for each SM. Loads that find all their data hit, whatever a policy says, and those whose
// instruction asks to go past (.cg, .cv, volatile) do so unasked.
//
// A line of a load is asked about once, when it is first served; what is answered holds for it
// however long it has to wait then, so an answer may depend on the cycle.
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/observer.h"
#include "raddle/policy/sm_view.h"

namespace raddle::policy {

/// A line of a load, of which not all is there.
struct BypassView {
  Cycle now;
  std::uint32_t line;  ///< address / line size of the machine
  std::uint32_t inst;  ///< index in the kernel's code: the PC
  std::uint8_t warp;   ///< slot of the SM
  TenantId tenant;
  bool pending;  ///< the line is under way for somebody else, so that the load could wait for it
  /// The L1D could not take the load now: of its set all ways are taken; or that, or no MSHR or
  /// merge slot is free.
  bool lacks_way, refused;
};

/// A strategy that may observe.
class BypassPolicy {
 public:
  static constexpr std::string_view kLevel = "bypass";
  struct Context {
    unsigned sm = 0, sets = 1, ways = 1;
    unsigned warps = 64;  ///< slots of the SM
    std::uint64_t seed = 0;
  };
  virtual ~BypassPolicy() = default;
  /// false: no load goes past; the L1D neither asks nor tells anything.
  virtual bool bypasses() const { return true; }

  /// true: past the L1D.
  bool ask(const BypassView& view) {
    const bool past = goes_past(view);
    ++stats_.asked;
    stats_.past += past;
    return past;
  }
  /// If not null: told what happens in the SM's L1D (observer.h), as long as the policy lives.
  virtual L1Observer* l1_observer() { return nullptr; }
  /// If not null: shown the SM's warps and load/store unit (sm_view.h), as long as it lives.
  virtual SmObserver* sm_observer() { return nullptr; }
  /// Counters, summed over instances in the result.
  virtual void visit_statistics(FieldVisitor& v) {
    if (!bypasses()) return;
    v.field("asked", stats_.asked, {}, "lines", "of loads that did not find all their data");
    v.field("past", stats_.past, {}, "lines", "of these that went past the L1D");
  }

 protected:
  virtual bool goes_past(const BypassView& view) = 0;

 private:
  struct {
    std::uint64_t asked = 0, past = 0;
  } stats_;
};

}  // namespace raddle::policy
