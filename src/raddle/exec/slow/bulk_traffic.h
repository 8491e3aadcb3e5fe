// What a copy of many bytes by one thread puts into the op stream: its lines of global memory, as
// many records of the instruction as they need (a record has 63 lines at most).
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/exec/slow/async.h"
#include "raddle/exec/slow/slow_access.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

class BulkTraffic {
 public:
  enum class Access : std::uint8_t { Load, Store };
  BulkTraffic(const SlowRun& run, Access access) : run_(run), access_(access) {}

  /// Where `bytes` of global memory from `address` on lie. Throws RunError when some of them are in
  /// no allocation.
  char* global(unsigned lane, Address address, std::uint64_t bytes);
  /// Where `bytes` of shared memory from `offset` on lie, perhaps in another block of the cluster.
  /// Throws RunError.
  char* shared(unsigned lane, std::uint64_t offset, std::uint64_t bytes);
  /// `bytes` come for the barrier object at `object` of the shared window.
  void complete(unsigned lane, std::uint64_t object, std::uint64_t bytes);
  /// Throws RunError when `value`, which is the copy's `what`, is no multiple of `unit`.
  void align(unsigned lane, std::string_view what, std::uint64_t value, std::uint64_t unit) const;
  /// Writes the entries of the op stream: at least one.
  void write();
  /// The same where nothing of global memory was accessed: rows of shared memory, of the block's
  /// own, or of others of its cluster (`distant`).
  void write_rows(bool distant);
  [[noreturn]] void fail(unsigned lane, const std::string& what) const;

 private:
  void add_lines(unsigned lane, Address address, std::uint64_t bytes);
  void put(std::uint32_t inst, const trace::Transaction* lines, unsigned count, unsigned field);
  void put_end();
  void hand_over();

  const SlowRun& run_;
  const Access access_;
  std::uint64_t shared_bytes_ = 0;
  ObjectChanges objects_;
  std::vector<trace::Transaction> lines_;
  std::vector<std::uint32_t> words_;  ///< records
  unsigned records_ = 0;
};

}  // namespace raddle::exec
