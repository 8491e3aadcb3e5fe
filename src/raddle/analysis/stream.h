// The L1D events of one SM over a run, kept in little memory: records are collected in a chunk of
// half a MiB, and a full chunk goes, packed, into a temporary file without a name. An access costs
// 16 bytes in the chunk and some 4 to 8 in the file; a run short of 32768 events per SM touches no
// file. Reading unpacks one chunk at a time.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/analysis/record.h"
#include "raddle/base/spill_file.h"

namespace raddle::analysis {

class Stream {
 public:
  static constexpr std::size_t kChunk = 32768;  ///< records

  explicit Stream(SpillFile& spill) : spill_(&spill) {}
  void push(const Record& r) {
    open_.push_back(r);
    if (open_.size() == kChunk) pack();
  }
  std::uint64_t size() const { return packed_.size() * kChunk + open_.size(); }
  /// Calls f(record, cycle) for each record in order.
  template <class F>
  void each(F f) const {
    Cycle at = 0;
    auto visit = [&](const std::vector<Record>& chunk) {
      for (const Record& r : chunk) {
        at += r.kind() == Record::Kind::Gap ? r.wide() : r.since;
        f(r, at);
      }
    };
    for (const SpillFile::Place& place : packed_) visit(unpack(place));
    visit(open_);
  }

 private:
  void pack();
  std::vector<Record> unpack(const SpillFile::Place& place) const;

  SpillFile* spill_;
  std::vector<Record> open_;
  std::vector<SpillFile::Place> packed_;
};

}  // namespace raddle::analysis
