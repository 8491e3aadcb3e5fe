#include "raddle/lowering/scheduled_stream.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::lowering {

using trace::OpKind;
using trace::Record;
using trace::WarpCursor;
using u32 = std::uint32_t;

/// A warp's way through the stream, one run of a block at a time.
class ScheduledStream::Warp {
 public:
  Warp(trace::KernelStream& inner, const Schedule& schedule, u32 block, unsigned warp)
      : inner_(inner), schedule_(schedule), from_(inner.open(block, warp)) {}

  /// The next records, or nothing at the end.
  bool next(WarpCursor& cursor) {
    out_.clear();
    while (out_.empty() && gather()) put_out();
    cursor.at = out_.data();
    cursor.end = out_.data() + out_.size();
    return !out_.empty();
  }

 private:
  struct Entry {
    u32 order, place;  // place differs where it stands for another instruction
    u32 mask, pieces;
    u32 payload, words;  // in payload_
  };

  bool more() { return from_.at != from_.end || inner_.refill(from_); }

  /// Entries of the next run of a block: its instructions rise.
  bool gather() {
    entries_.clear();
    payload_.clear();
    u32 block = 0, last = 0;
    while (more()) {
      const Record r{from_.at[0], from_.at[1]};
      for (u32 i = r.inst() + done_; i < r.inst() + r.count(); ++i, ++done_) {
        const bool starts = entries_.empty();
        const bool known = i < schedule_.block.size();  // else it stands for another one
        const u32 as = known ? i : original_of(i);
        if (!starts && (schedule_.block[as] != block || as <= last)) return true;
        block = schedule_.block[as];
        last = as;
        take(i, schedule_.place[as], r);
      }
      from_.at += trace::kRecordWords + words_of(r);
      done_ = 0;
    }
    return !entries_.empty();
  }

  u32 original_of(u32 i) const {
    const u32 alias = schedule_.code.instructions[schedule_.place[i]].alias_of;
    const auto found = std::ranges::find(schedule_.place, alias);
    return static_cast<u32>(found - schedule_.place.begin());
  }

  u32 words_of(const Record& r) const {
    return trace::carries_pieces(kind(r.inst())) ? r.pieces() * trace::kPieceWords : 0;
  }
  OpKind kind(u32 original) const {
    return schedule_.code.instructions[schedule_.place[original]].kind;
  }

  void take(u32 i, u32 order, const Record& r) {
    const u32 place = schedule_.place[i];
    if (schedule_.joined[i]) {
      // What the loads it belongs to take of the banks together: as the worst of them.
      const auto lead = std::ranges::find(entries_, place, &Entry::place);
      if (lead != entries_.end()) {
        lead->pieces = std::max(lead->pieces, r.pieces());
        return;
      }
    }
    const u32 words = words_of(r);
    entries_.push_back(
        {order, place, r.mask, r.pieces(), static_cast<u32>(payload_.size()), words});
    payload_.insert(payload_.end(), from_.at + trace::kRecordWords,
                    from_.at + trace::kRecordWords + words);
  }

  bool shares(const Entry& e) const {
    const OpKind k = schedule_.code.instructions[e.place].kind;
    return k == OpKind::Alu || k == OpKind::Branch;
  }

  void put_out() {
    std::ranges::sort(entries_, {}, &Entry::order);
    for (std::size_t i = 0; i < entries_.size();) {
      const Entry& e = entries_[i];
      u32 count = 1;
      const bool together = shares(e);
      while (together && i + count < entries_.size() && count < trace::kMaxRun) {
        const Entry& then = entries_[i + count];
        if (then.place != e.place + count || then.mask != e.mask || !shares(then)) break;
        ++count;
      }
      const Record r = Record::make(e.place, count, together ? 0 : e.pieces, e.mask);
      out_.push_back(r.head);
      out_.push_back(r.mask);
      out_.insert(out_.end(), payload_.begin() + e.payload, payload_.begin() + e.payload + e.words);
      i += count;
    }
  }

  trace::KernelStream& inner_;
  const Schedule& schedule_;
  WarpCursor from_;
  u32 done_ = 0;  // instructions of the record at from_ that have been taken
  std::vector<Entry> entries_;
  std::vector<u32> payload_, out_;
};

ScheduledStream::ScheduledStream(std::shared_ptr<trace::KernelStream> inner,
                                 std::shared_ptr<const Schedule> schedule)
    : inner_(std::move(inner)),
      schedule_(std::move(schedule)),
      warps_(inner_->shape().grid.count()) {
  RADDLE_ASSERT(!schedule_->is_identity);
}
ScheduledStream::~ScheduledStream() = default;

WarpCursor ScheduledStream::open(u32 block, unsigned warp) {
  auto& warps = warps_[block];
  if (warps.empty()) warps.resize(inner_->shape().warps_per_block());
  warps[warp] = std::make_unique<Warp>(*inner_, *schedule_, block, warp);
  WarpCursor out;
  out.position = warps[warp].get();
  const bool any = warps[warp]->next(out);
  RADDLE_ASSERT(any);
  return out;
}

bool ScheduledStream::refill(WarpCursor& cursor) {
  return static_cast<Warp*>(cursor.position)->next(cursor);
}

void ScheduledStream::close(u32 block) {
  warps_[block].clear();
  inner_->close(block);
}

}  // namespace raddle::lowering
