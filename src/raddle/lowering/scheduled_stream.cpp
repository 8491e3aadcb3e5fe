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
    while (out_.size() < kEnough && more()) {
      const u32 i = Record{from_.at[0], 0}.inst() + done_;
      if (i < schedule_.block.size() && schedule_.as_written[schedule_.block[i]]) {
        pass_on(i);
      } else {
        gather();
        put_out();
      }
    }
    cursor.at = out_.data();
    cursor.end = out_.data() + out_.size();
    return !out_.empty();
  }

 private:
  static constexpr std::size_t kEnough = 128;  // words, to be read at once
  static constexpr u32 kNothing = ~u32{0};
  struct Entry {
    u32 place;  // where it is in the code; differs from its turn if it stands for another one
    u32 mask, transactions;
    u32 payload, words;  // in payload_
  };

  bool more() { return from_.at != from_.end || inner_.refill(from_); }
  Record record() const { return {from_.at[0], from_.at[1]}; }
  /// `n` more instructions of the record are taken.
  void advance(const Record& r, u32 n) {
    done_ += n;
    if (done_ < r.count()) return;
    from_.at += trace::kRecordWords + words_of(r);
    done_ = 0;
  }

  /// What a record has of a block that stays as it was written.
  void pass_on(u32 i) {
    const Record r = record();
    const u32 block = schedule_.block[i];
    const u32 n = std::min(r.count() - done_, schedule_.first[block + 1] - i);
    out_.push_back(Record::make(schedule_.place[i], n, r.transactions(), r.mask).head);
    out_.push_back(r.mask);
    out_.insert(out_.end(), from_.at + trace::kRecordWords,
                from_.at + trace::kRecordWords + words_of(r));
    advance(r, n);
  }

  /// Entries of the next run of a block, by their turns: its instructions rise.
  void gather() {
    entries_.clear();
    payload_.clear();
    decisions_.clear();
    block_ = kNothing;
    for (u32 last = 0; more();) {
      const Record r = record();
      const u32 i = r.inst() + done_;
      const u32 as = i < schedule_.block.size() ? i : original_of(i);
      if (block_ != kNothing && (schedule_.block[as] != block_ || as <= last)) return;
      if (block_ == kNothing) {
        block_ = schedule_.block[as];
        turns_.assign(schedule_.begin[block_ + 1] - schedule_.begin[block_], kNothing);
      }
      while (!decisions_.empty() && as >= schedule_.meeting[decisions_.back().branch]) pass_sides();
      last = as;
      if (!schedule_.dropped[as]) take(i, schedule_.place[as] - schedule_.begin[block_], r);
      else if (schedule_.meeting[as] != trace::kNoRegister) decisions_.push_back({as, r.mask});
      advance(r, 1);
    }
  }

  /// The lanes are behind the sides of the last branch that was decided. What is predicated is
  /// issued even if no lane does anything: then under the mask that the branch had.
  void pass_sides() {
    const auto [branch, mask] = decisions_.back();
    decisions_.pop_back();
    for (u32 k = branch + 1; k < schedule_.meeting[branch]; ++k) {
      if (schedule_.dropped[k] || schedule_.joined[k]) continue;
      u32& turn = turns_[schedule_.place[k] - schedule_.begin[block_]];
      if (turn != kNothing) continue;
      turn = static_cast<u32>(entries_.size());
      entries_.push_back({schedule_.place[k], mask, 0, static_cast<u32>(payload_.size()), 0});
    }
  }

  u32 original_of(u32 i) const {
    const u32 alias = schedule_.code.instructions[schedule_.place[i]].alias_of;
    const auto found = std::ranges::find(schedule_.place, alias);
    return static_cast<u32>(found - schedule_.place.begin());
  }

  u32 words_of(const Record& r) const {
    if (schedule_.dropped[r.inst()]) return 0;
    return trace::carries_transactions(kind(r.inst())) ? r.transactions() * trace::kTransactionWords
                                                       : 0;
  }
  OpKind kind(u32 original) const {
    return schedule_.code.instructions[schedule_.place[original]].kind;
  }

  void take(u32 i, u32 turn, const Record& r) {
    if (turns_[turn] != kNothing) {
      // Joined loads take of the banks together as much as the worst of them.
      Entry& first = entries_[turns_[turn]];
      first.transactions = std::max(first.transactions, r.transactions());
      return;
    }
    const u32 words = words_of(r);
    turns_[turn] = static_cast<u32>(entries_.size());
    entries_.push_back(
        {schedule_.place[i], r.mask, r.transactions(), static_cast<u32>(payload_.size()), words});
    payload_.insert(payload_.end(), from_.at + trace::kRecordWords,
                    from_.at + trace::kRecordWords + words);
  }

  bool shares(const Entry& e) const {
    const OpKind k = schedule_.code.instructions[e.place].kind;
    return k == OpKind::Alu || k == OpKind::Branch;
  }

  /// What follows in the block's order under the same mask and without payload shares a record.
  void put_out() {
    const Entry* run = nullptr;
    u32 count = 0;
    auto end_run = [&] {
      if (run == nullptr) return;
      out_.push_back(Record::make(run->place, count, 0, run->mask).head);
      out_.push_back(run->mask);
      run = nullptr;
    };
    for (const u32 turn : turns_) {
      if (turn == kNothing) continue;
      const Entry& e = entries_[turn];
      const bool together = shares(e);
      if (run != nullptr && together && count < trace::kMaxRun && e.mask == run->mask &&
          e.place == run->place + count) {
        ++count;
        continue;
      }
      end_run();
      if (together) {
        run = &e;
        count = 1;
        continue;
      }
      out_.push_back(Record::make(e.place, 1, e.transactions, e.mask).head);
      out_.push_back(e.mask);
      out_.insert(out_.end(), payload_.begin() + e.payload, payload_.begin() + e.payload + e.words);
    }
    end_run();
  }

  trace::KernelStream& inner_;
  const Schedule& schedule_;
  WarpCursor from_;
  u32 done_ = 0;  // instructions of the record at from_ that have been taken
  u32 block_ = kNothing;
  std::vector<Entry> entries_;
  std::vector<u32> turns_;  // by place in the block: its entry
  struct Decision {
    u32 branch, mask;
  };
  std::vector<Decision> decisions_;  // whose sides the lanes have not left yet
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
