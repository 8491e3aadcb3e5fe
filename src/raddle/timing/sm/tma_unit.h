// The unit of an SM that makes bulk and tensor copies (TMA, sm.tma). A thread issues a copy and
// goes on; the unit makes copies in the order of their issue, one line of global memory after
// another at its own rate, past the L1D, through the SM's port.
//
// A copy begins sm.tma.latency_cycles after its issue at the earliest, and copy_cycles after the
// one before it. A tensor copy needs its descriptor first: the unit keeps some, others cost a read
// of 128 bytes, for which the copies behind wait. A line that is loaded takes shared memory for
// shared_cycles when it comes, one that is stored when it leaves. A load is over when its last line
// has come: then barrier objects hear of all its bytes. A store or reduction has read its source
// when its last line has left, and is over when all have been acknowledged.
//
// Sources: that one thread issues and a unit makes the requests, NVIDIA's H100 whitepaper; requests
// of 128 bytes and a bound on those under way, FlashGPU-Sim (MICRO 2026). Left out: the stream does
// not say which descriptor a copy reads, so every tensor copy of a kernel's text has one of its
// own; copies that wait have no bound; other blocks of the cluster get what is multicast for
// nothing; lines of the L1D that a copy overwrites stay there.
//
// Values only: what leaves and who hears is its owner's business (sm_copies.h).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/timing/sm/line_access.h"
#include "raddle/timing/sm/memory_instruction.h"
#include "raddle/timing/wire/message.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class TmaUnit {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  /// A copy, from its issue until it is over.
  struct Copy {
    InstructionOwner owner;
    MessageKind kind = MessageKind::Read;
    std::uint8_t block = 0;            ///< slot of the warp's block
    std::uint8_t group = 0;            ///< of the warp's bulk copies
    std::uint16_t tag = 0;             ///< of its requests, while there are any
    Cycle ready = 0;                   ///< when it can begin
    std::uint64_t descriptor = kNone;  ///< that it needs
    std::uint32_t asked = 0;           ///< of its lines
    std::uint32_t under_way = 0;       ///< requests that have not been answered
    bool all_asked = false;            ///< its descriptor and lines, if there are any
    std::vector<LineAccess> lines;
    std::vector<std::uint32_t> objects;  ///< changes (trace::ObjectChange) when it is over
    bool loads() const { return kind == MessageKind::Read; }
    bool is_over() const { return all_asked && under_way == 0; }
  };
  /// What a step does.
  struct Step {
    enum class What : std::uint8_t { Nothing, Descriptor, Line };
    unsigned copy = 0;
    What what = What::Nothing;  ///< of a copy without lines
    LineAccess line;
  };

  TmaUnit(const TmaSpec& spec, const LineSpec& lines) : spec_(spec), lines_(lines) {}
  bool present() const { return spec_.present(); }
  unsigned shared_cycles() const { return spec_.shared_cycles; }
  bool idle() const { return copies_.size() == free_.size(); }

  // --- issue -------------------------------------------------------------------------------------
  /// A copy is issued; returns its number. Its lines and objects follow, then enter().
  unsigned begin(Cycle now, Copy copy);
  /// `payload`: of the stream; `base` is added to machine lines.
  void add_lines(unsigned number, const std::uint32_t* payload, unsigned count, std::uint32_t base);
  /// `changes`: as many of the stream's.
  void add_objects(unsigned number, const std::uint32_t* changes, unsigned count);
  void enter(unsigned number) { queue_.push_back(number); }

  // --- each cycle --------------------------------------------------------------------------------
  /// The oldest copy has something to do now.
  bool steps(Cycle now) const { return can_step() && now >= starts_at(); }
  /// Preconditions: steps(), and the port takes a request.
  Step step(Cycle now);
  /// When the next step can be, unless something must come first.
  Cycle next_step(Cycle now) const { return can_step() ? std::max(now + 1, starts_at()) : kNever; }
  /// The launch whose copy steps. Precondition: steps().
  unsigned stepping_kernel() const { return copies_[queue_[first_]].owner.kernel; }

  // --- answers -----------------------------------------------------------------------------------
  /// Something with that tag has been answered; returns the copy's number.
  unsigned answered(std::uint16_t tag);
  const Copy& operator[](unsigned number) const { return copies_[number]; }
  /// Precondition: the copy is over.
  void forget(unsigned number);

 private:
  bool can_step() const {
    return first_ != queue_.size() && !awaits_descriptor_ && under_way_ < spec_.lines_in_flight;
  }
  Cycle starts_at() const {
    const Copy& copy = copies_[queue_[first_]];
    return copy.asked != 0 ? next_line_ : std::max({next_line_, next_copy_, copy.ready});
  }
  bool keeps(std::uint64_t descriptor);
  void ask(unsigned number);
  void leave_queue();

  TmaSpec spec_;
  LineMap lines_;
  std::vector<Copy> copies_;
  std::vector<unsigned> free_;   // numbers that no copy has
  std::vector<unsigned> queue_;  // from first_ on: copies with something to do, oldest first
  std::size_t first_ = 0;
  std::vector<unsigned> of_tag_;
  std::vector<std::uint16_t> free_tags_;
  std::vector<std::uint64_t> descriptors_;  // the one used last is the last
  bool awaits_descriptor_ = false;          // the oldest copy does
  std::uint32_t under_way_ = 0;
  Cycle next_line_ = 0, next_copy_ = 0;
};

}  // namespace raddle::timing
