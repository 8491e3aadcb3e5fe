// Load/store unit of an SM: a queue of memory instructions served in order, the L1D, and the port
// to the interconnect. Each cycle it serves one line of the oldest instruction (or one pass of a
// shared-memory access, or one address of a constant access). A line that finds no MSHR, merge
// slot, way or room in the miss queue stalls everything behind it. A miss leaves for the
// interconnect at once; its trip through the cache pipeline is part of the L2's latency. Left out:
// a constant cache that misses, store coalescing across instructions, replays, address translation.
#pragma once
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/timing/memory_ports.h"
#include "raddle/timing/noc/flits.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/l1d.h"
#include "raddle/timing/sm/launch.h"
#include "raddle/timing/sm/line_access.h"

namespace raddle::timing {

using SmKernelCounters = stats::PerKernel<stats::SmCounters>;

class Lsu {
 public:
  /// Whose instruction, for completion.
  struct Owner {
    std::uint8_t warp = 0;
    std::uint8_t kernel = 0;
    std::uint32_t inst = 0;
    const DecodedInst* code = nullptr;
  };

  Lsu(const MachineSpec& machine, unsigned sm);
  SmPorts& ports() { return ports_; }
  void set_skip(bool skip) { skip_ = skip; }

  // --- issue -------------------------------------------------------------------------------------
  /// May an instruction enter now?
  bool accepts() const { return !queue_.full() && !free_loads_.empty(); }
  /// Shared or constant access of so many passes. Precondition for all: accepts().
  void enter_passes(const Owner& owner, unsigned passes);
  /// Global or local access; `pieces` points to the stream's payload. Returns the number of lines.
  unsigned enter_lines(const Owner& owner, const std::uint32_t* payload, unsigned pieces,
                       std::uint32_t base);

  // --- each cycle --------------------------------------------------------------------------------
  /// Serves the oldest instruction; true if anything changed.
  bool serve(Cycle now, EventWheel& wheel, SmKernelCounters& counters);
  /// Sends one packet; true if it did.
  bool inject(Cycle now);
  /// Next cycle at which serve() or inject() could do something, given that they did nothing at
  /// `now`.
  Cycle next_event(Cycle now) const;
  void take_credits(Cycle now);

  // --- completions -------------------------------------------------------------------------------
  /// A reply: loaded(owner) for each load now complete, acknowledged(warp) for a write or
  /// reduction.
  template <class Loaded, class Acknowledged>
  void reply(Cycle now, const Message& m, SmKernelCounters& counters, Loaded loaded,
             Acknowledged acknowledged) {
    switch (m.kind) {
      case MessageKind::Write:
      case MessageKind::Reduce:
        acknowledged(m.tag);
        return;
      case MessageKind::Atomic:
        piece_done(m.tag, loaded);
        return;
      case MessageKind::Read:
        break;
    }
    if ((m.tag & kBypass) != 0) return piece_done(m.tag & ~kBypass, loaded);
    l1d_.fill(now, m.tag, m.sectors, counters[m.kernel],
              [&](std::uint16_t load) { piece_done(load, loaded); });
    stuck_ = false;
  }
  /// One line of a load is there.
  template <class Loaded>
  void piece_done(unsigned load, Loaded loaded) {
    InFlight& f = loads_[load];
    if (--f.left != 0) return;
    free_loads_.push_back(static_cast<std::uint16_t>(load));
    loaded(f.owner);
  }

  void flush() { l1d_.flush(); }
  /// Cycles, up to `at`, for which the present head has been refused.
  Cycle refused_cycles(Cycle at) const { return refused_ ? at - refused_since_ : 0; }
  /// Whose instruction that is. Precondition: one is refused.
  unsigned refused_kernel() const { return queue_.front().owner.kernel; }
  bool idle() const;
  void describe(std::string& out) const;

 private:
  static constexpr std::uint16_t kBypass = 0x8000;  // tag of a read that is not the L1's
  static constexpr unsigned kMaxLines = 2 * trace::kMaxPieces;
  struct Entry {
    Owner owner;
    Route route = Route::Load;
    bool bypass = false;
    std::uint8_t lines = 0, position = 0;
    std::uint16_t load = 0;
    LineAccess line[kMaxLines];
  };
  struct InFlight {
    Owner owner;
    std::uint8_t left = 0;
  };
  bool serve_line(Cycle now, Entry& e, EventWheel& wheel, stats::SmCounters& count);
  bool load(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
            stats::SmCounters& count);
  void serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count);
  void send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
            std::uint8_t sectors);

  LineMap lines_;
  FlitTable flits_;
  PortPace pace_;
  unsigned sm_;
  Cycle wire_, hit_latency_, shared_latency_, const_latency_;
  bool skip_ = true;
  Ring<Entry> queue_;
  L1d l1d_;
  std::vector<InFlight> loads_;
  std::vector<std::uint16_t> free_loads_;  // stack
  Ring<Message> miss_queue_;
  SmPorts ports_;
  Cycle free_at_ = 0, inject_at_ = 0, refused_since_ = 0;
  bool refused_ = false;     // the head has been tried in vain
  bool stuck_ = false;       // ... and nothing that could help has happened since
  bool needs_room_ = false;  // ... and room in the miss queue could help
  unsigned credits_;
};

}  // namespace raddle::timing
