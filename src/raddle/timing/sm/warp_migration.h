// Warps that leave an SM and arrive at another (warp_context.h), as whoever carries them sees an
// SM. All of it is called between windows or before tick(now) of the SM, which must be ticked in
// that cycle even if it had nothing to do. What contexts take is the caller's account, as that of
// blocks is the dispatcher's.
#pragma once
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/warp/policy.h"
#include "raddle/timing/sm/home_call.h"
#include "raddle/timing/sm/warp_context.h"
#include "raddle/timing/wire/transfer.h"

namespace raddle::timing {

class WarpMigration {
 public:
  /// From now on warps may come and go; what is in `leaving` leaves through the SM's port (null:
  /// nothing ever is). Both must outlive the SM. Precondition: the SM is idle.
  virtual void allow(MigrationBoard& board, SegmentQueue* outgoing,
                     policy::Passage::Shared shared) = 0;
  /// Something was put into that queue.
  virtual void segments_wait(Cycle now) = 0;

  // --- what may be known before ------------------------------------------------------------------
  /// Warps in slots, those included that have ended and wait for their data.
  virtual policy::WarpMask resident() const = 0;
  /// All but `arrived`. Precondition: it is resident.
  virtual policy::WarpState state_of(unsigned warp) const = 0;
  /// Whether its block is on that SM.
  virtual bool is_home_of(unsigned warp, unsigned sm) const = 0;
  virtual BlockNeeds context_needs(unsigned warp) const = 0;
  /// L1D misses whose requests have not left, the oldest first.
  virtual bool miss(const policy::MissPlace& place, policy::PendingMiss& out) = 0;

  // --- departure and arrival ---------------------------------------------------------------------
  virtual ExportRefusal may_export(unsigned warp) const = 0;
  /// The warp's slot and context are free; its block stays. Precondition: may_export() is None.
  virtual WarpContext export_warp(Cycle now, unsigned warp) = 0;
  virtual ImportRefusal may_import(const WarpContext& context) const = 0;
  /// The warp goes on in the slot that is returned, as the youngest of the SM. Precondition:
  /// may_import() is None.
  virtual unsigned import_warp(Cycle now, const WarpContext& context) = 0;

  // --- between a warp and its block elsewhere ----------------------------------------------------
  /// Of warps from elsewhere that have ended here since the list was last cleared.
  virtual std::vector<WarpEnded>& ended_here() = 0;
  /// One of this SM's has ended elsewhere.
  virtual void warp_ended_abroad(Cycle now, const WarpEnded& ended) = 0;
  /// What warps here and blocks here have to say to blocks and warps elsewhere, since the list was
  /// last cleared; and what one of those says.
  virtual std::vector<HomeCall>& calls() = 0;
  virtual void take_call(Cycle now, const HomeCall& call) = 0;

  virtual const MigrationCounters& counters() const = 0;

 protected:
  ~WarpMigration() = default;
};

}  // namespace raddle::timing
