// A warp between two SMs, as a value: everything that makes it go on where it stopped. It leaves
// one SM (Sm::export_warp) and arrives at another (Sm::import_warp); how it travels, what that
// costs and which warp goes where is the business of who calls them. Its block stays at home, where
// it is resident until all its warps have ended, those at home and those abroad.
//
// Loads under way do not travel: their addresses do, as descriptors, and the SM that takes the warp
// asks for the lines again. At the SM it leaves, whoever else waits for these lines still gets
// them; a line that nobody waits for any more still comes, unless its request has not left yet,
// which is then withdrawn together with its MSHR.
//
// Reconvergence needs no state of its own: the op stream, in which the cursor stands, has the lane
// mask of every record. Left out: the program's values, which are computed elsewhere.
//
// Source of the mechanism: migration of warps between neighbouring SMs ("LATOA"), where a warp that
// waits for loads leaves an SM whose MSHRs are nearly full.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "raddle/timing/code/launch.h"
#include "raddle/timing/code/occupancy.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// The block of a warp that is abroad, at its home.
struct HomeBlock {
  std::uint32_t sm = 0;
  std::uint32_t block = 0;  ///< in the grid
  std::uint8_t slot = 0;    ///< block slot of the SM
};

/// A load or its rest: the words of which have not come.
struct PendingLoad {
  std::uint32_t inst = 0;  ///< machine instruction of the kernel
  std::uint32_t base = 0;  ///< machine lines that are added: the warp's local window
  std::vector<trace::Transaction> transactions;
};

struct WarpContext {
  const Launch* launch = nullptr;
  HomeBlock home;
  std::uint32_t index = 0;         ///< of the warp in its block
  std::uint32_t local_window = 0;  ///< its local memory, which stays where it is
  trace::WarpCursor cursor;        ///< at the record of the next instruction
  const DecodedInst* next = nullptr;
  LaneMask mask = 0;            ///< of the record
  std::uint16_t remaining = 0;  ///< machine instructions left of the record
  std::uint8_t transactions = 0, record_words = 0, lanes = 0, active = 0;
  std::vector<PendingLoad> loads;
  BlockNeeds needs;  ///< of an execution context, as the dispatcher's account of an SM has them

  /// Registers of a thread that travel: those that live where the warp is, if all its threads are
  /// there. What lives where others wait is not in the stream: then all that a thread has.
  std::uint32_t registers() const {
    return active == lanes ? launch->code->live_registers(next)
                           : launch->code->code().registers_per_thread;
  }
  /// Registers of all lanes, and 32 bytes for the program counter, the reconvergence stack and the
  /// predicates.
  static constexpr std::uint32_t kControlBytes = 32;
  std::uint32_t architectural_bytes() const { return registers() * kLanes * 4 + kControlBytes; }
  /// Of a load under way: its register and base; of a piece: its line, words and lanes.
  static constexpr std::uint32_t kLoadBytes = 8, kTransactionBytes = 12;
  /// All that travels.
  std::uint32_t bytes() const {
    std::uint32_t out = architectural_bytes();
    for (const PendingLoad& load : loads)
      out += kLoadBytes + kTransactionBytes * static_cast<std::uint32_t>(load.transactions.size());
    return out;
  }
};

/// A warp has ended abroad: for Sm::warp_ended_abroad of its home.
struct WarpEnded {
  const Launch* launch = nullptr;
  HomeBlock home;
  std::uint32_t index = 0;  ///< of the warp in its block
  BlockNeeds needs;         ///< what it held beside the blocks of the SM where it has ended
  Cycle at = 0;
};

/// Why a warp cannot leave now.
enum class ExportRefusal : std::uint8_t {
  None,
  NotResident,
  Ended,              ///< all it has is memory operations under way
  Parked,             ///< at a barrier, asleep, or without its next instruction
  SharesWithBlock,    ///< its kernel uses barriers or shared memory, which is forbidden abroad
  ResultUnderWay,     ///< a register is written by something else than a load from global memory
  InQueue,            ///< one of its memory instructions waits in the load/store unit
  OperationUnderWay,  ///< a store or an atomic is not yet acknowledged
  HitUnderWay,        ///< data of a load come from the L1 or bypass it
  Unsupported,        ///< the L1's protocol cannot, or no descriptors are kept
};
constexpr std::string_view in_words(ExportRefusal why) {
  switch (why) {
    case ExportRefusal::None:
      return "it can leave";
    case ExportRefusal::NotResident:
      return "no warp is there";
    case ExportRefusal::Ended:
      return "it has ended";
    case ExportRefusal::Parked:
      return "it is at a barrier, asleep or to be fetched";
    case ExportRefusal::SharesWithBlock:
      return "its kernel uses barriers or shared memory";
    case ExportRefusal::ResultUnderWay:
      return "a result is under way that is no load's";
    case ExportRefusal::InQueue:
      return "a memory instruction waits in the load/store unit";
    case ExportRefusal::OperationUnderWay:
      return "a store or an atomic is under way";
    case ExportRefusal::HitUnderWay:
      return "data are under way that no MSHR waits for";
    case ExportRefusal::Unsupported:
      return "the SM does not keep what it needs";
  }
  return "";
}

/// Why a warp cannot be taken now.
enum class ImportRefusal : std::uint8_t {
  None,
  NoSlot,   ///< every warp slot is taken
  OwnWarp,  ///< it is at home here
};

/// What SMs tell whoever carries their warps. Each writes its own place in its tick; it is read
/// between windows.
struct MigrationBoard {
  explicit MigrationBoard(unsigned sms) : mshrs(sms), ticked(sms) {}
  std::vector<std::uint16_t> mshrs;  ///< by SM: MSHRs of its L1D that are taken
  // Cleared by the reader.
  std::vector<std::uint8_t> ticked;     ///< by SM: it has been, so anything may have changed
  std::atomic<bool> any_ticked{false};  ///< one of them
  std::atomic<bool> notified{false};    ///< Sm::ended_here() or Sm::calls() of an SM has grown
};

/// What has come and gone at one SM.
struct MigrationCounters {
  std::uint64_t warps_out = 0, warps_in = 0;
  std::uint64_t loads_out = 0;      ///< loads that left as descriptors
  std::uint64_t lines_out = 0;      ///< accesses of theirs that somebody waited for here
  std::uint64_t unclaimed = 0;      ///< lines that come although nobody waits for them any more
  std::uint64_t cancelled = 0;      ///< requests that had not left and never will
  std::uint64_t home_accesses = 0;  ///< to shared memory at the home of the warp
};

}  // namespace raddle::timing
