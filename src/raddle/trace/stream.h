// The op stream: what a warp did, in order, as 32-bit words. The timing model reads it through
// KernelStream and cannot tell whether it was recorded before or is being executed just ahead of
// it.
//
// A record is two words, then three words for each piece of a global or local access:
//   word 0   bits 0-19   index of the (first) instruction in KernelCode::instructions
//            bits 20-25  count, 1..63: that many consecutive instructions ran under this mask
//            bits 26-31  pieces, 0..63 (see below); count is 1 where pieces are meaningful
//   word 1   lane mask under which they ran (guard applied; 0 = issued with all lanes predicated
//            off)
//   piece    line (address / 128; relative to the warp's window for local memory),
//            mask of the 32 4-byte words touched, mask of the lanes that touch them
// Pieces of a record are distinct lines in order of their lowest lane. `pieces` of a shared-memory
// op is the number of bank passes (1..32), or, of an access to shared memory of another block of
// the cluster, kDistant and the rows of 128 bytes that it touches there (1..31, 31 or more), of a
// LoadConst the number of distinct addresses; none has a payload. Only Alu and Branch instructions
// share a record; a predicated instruction has its own. A Barrier record's mask word holds barrier
// id in bits 0-3, kind in bits 4-5 (0 sync, 1 arrive, 2 warp-level: no wait) and the expected
// number of *warps* in bits 8-15 (0 = all of the block). A piece of a BarrierObject record is an
// object of the block (ObjectChange). `pieces` of a Sleep is the binary logarithm of the
// nanoseconds, rounded up (0..20), without a payload.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "raddle/base/types.h"
#include "raddle/trace/code.h"

namespace raddle::trace {

inline constexpr unsigned kLineBytes = 128;  ///< of the stream; machines may use shorter lines
inline constexpr unsigned kRecordWords = 2, kTransactionWords = 3;
inline constexpr unsigned kDistant = 32;  ///< pieces beyond it: rows of another block
inline constexpr unsigned kMaxRun = 63, kMaxTransactions = 63;
inline constexpr std::uint32_t kMaxInstructions = 1u << 20;

struct Record {
  std::uint32_t head, mask;
  constexpr std::uint32_t inst() const { return head & (kMaxInstructions - 1); }
  constexpr unsigned count() const { return head >> 20 & 63; }
  constexpr unsigned transactions() const { return head >> 26; }
  static constexpr Record make(std::uint32_t inst, unsigned count, unsigned transactions,
                               LaneMask mask) {
    return {inst | count << 20 | transactions << 26, mask};
  }
};
struct Transaction {
  std::uint32_t line, words;
  LaneMask lanes;
};
static_assert(sizeof(Record) == 8 && sizeof(Transaction) == 12);

enum class BarrierKind : std::uint8_t { Sync = 0, Arrive = 1, Warp = 2 };

/// The mask word of a Barrier record.
struct BarrierRecord {
  std::uint32_t word;
  constexpr unsigned id() const { return word & 15; }
  constexpr BarrierKind kind() const { return static_cast<BarrierKind>(word >> 4 & 3); }
  constexpr unsigned expected_warps() const { return word >> 8 & 0xff; }
};

/// What lanes of a warp do to one barrier object, as a piece: object and arrivals, value, lanes.
struct ObjectChange {
  static constexpr unsigned kObjectBits = 15;
  static constexpr std::uint32_t kMaxArrivals = (1u << (32 - kObjectBits)) - 1;
  /// As the arrivals of a Wait: its value is not phases that are over, but arrivals and bytes that
  /// the block itself has brought (modulo 2^32).
  static constexpr std::uint32_t kBrought = 1;
  std::uint32_t object = 0;    ///< its offset in shared memory, in units of its 8 bytes
  std::uint32_t arrivals = 0;  ///< kMaxArrivals: that many or more
  std::uint32_t value = 0;     ///< bytes, or what is waited for
  LaneMask lanes = 0;
  constexpr Transaction packed() const {
    return {object | std::min(arrivals, kMaxArrivals) << kObjectBits, value + 1, lanes};
  }
  static constexpr ObjectChange of(const std::uint32_t* words) {
    return {words[0] & ((1u << kObjectBits) - 1), words[0] >> kObjectBits, words[1] - 1, words[2]};
  }
};

/// Where a warp stands in its stream: [at, end) are whole records.
struct WarpCursor {
  const std::uint32_t* at = nullptr;
  const std::uint32_t* end = nullptr;
  void* position = nullptr;  ///< the stream's own bookkeeping
};

struct LaunchShape {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  unsigned warps_per_block() const {
    return static_cast<unsigned>((block.count() + kLanes - 1) / kLanes);
  }
};

/// One launch. Blocks may be opened in any order, each once; when `concurrent()`, calls for
/// different blocks, and refills of different warps, may come from different threads.
class KernelStream {
 public:
  virtual ~KernelStream() = default;
  virtual const KernelCode& code() const = 0;
  virtual const LaunchShape& shape() const = 0;
  virtual bool concurrent() const = 0;
  /// Executed while it is read: what comes next may need what other warps do first.
  virtual bool live() const { return false; }
  /// Do records stay where they are, and refill() forget nothing, until their block is closed?
  virtual bool keeps() const { return false; }
  /// Start of a warp's stream. Postcondition: at != end (every warp has at least its exit).
  virtual WarpCursor open(std::uint32_t block, unsigned warp) = 0;
  /// The next records after `at == end`. Returns false at the end of the warp: the cursor is done.
  /// Pieces and records of the former range may be overwritten.
  virtual bool refill(WarpCursor& cursor) = 0;
  /// All warps of the block have come to their end; its storage may go.
  virtual void close(std::uint32_t block) = 0;
};

/// Takes the streams of one launch while they are made. Whoever makes them owns each warp's tail:
/// asks for room, writes records, commits.
class StreamWriter {
 public:
  struct Room {
    std::uint32_t *at = nullptr, *end = nullptr;
  };
  virtual ~StreamWriter() = default;
  /// A fresh range for the warp, at least `words` long, following what was committed before.
  virtual Room grow(std::uint32_t block, unsigned warp, unsigned words) = 0;
  /// The warp's records now end at `at` inside the range last grown.
  virtual void commit(std::uint32_t block, unsigned warp, std::uint32_t* at) = 0;
  /// All warps of the block have come to their end.
  virtual void finish(std::uint32_t block) = 0;
};

}  // namespace raddle::trace
