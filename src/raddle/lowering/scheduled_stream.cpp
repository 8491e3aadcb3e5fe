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
  Warp(trace::KernelStream& inner, const Schedule& schedule)
      : inner_(inner), schedule_(schedule), steps_(schedule.steps.data()), keeps_(inner.keeps()) {}

  void start(u32 block, unsigned warp) {
    from_ = inner_.open(block, warp);
    done_ = 0;
  }

  /// The next records, or nothing at the end.
  bool next(WarpCursor& cursor) {
    filled_ = 0;
    while (filled_ < kEnough && more()) {
      const u32 i = record().inst() + done_;
      const ScheduleStep& step = steps_[i];
      if (step.as == i && schedule_.as_written[step.block]) {
        pass_on(i);
      } else if (!put_out_whole(i)) {
        gather();
        put_out();
      }
    }
    cursor.at = out_.data();
    cursor.end = out_.data() + filled_;
    return filled_ != 0;
  }

 private:
  static constexpr std::size_t kEnough = 128;  // words, to be read at once
  static constexpr u32 kNothing = ~u32{0};
  struct Entry {
    u32 place;  // where it is in the code; differs from its turn if it stands for another one
    u32 mask, transactions;
    u32 payload, words;  // in payload_
    bool shares;         // a record with its neighbours
  };

  bool more() { return from_.at != from_.end || inner_.refill(from_); }
  Record record() const { return {from_.at[0], from_.at[1]}; }
  static u32 words_of(const ScheduleStep& step, const Record& r) {
    return step.carries ? r.transactions() * trace::kTransactionWords : 0;
  }
  /// Room for so many more words. They are written from the pointer on, and counted in filled_.
  u32* room(std::size_t words) {
    if (out_.size() < filled_ + words) out_.resize(2 * (filled_ + words));
    return out_.data() + filled_;
  }

  /// What a record has of a block that stays as it was written.
  void pass_on(u32 i) {
    const Record r = record();
    const ScheduleStep& step = steps_[i];
    const u32 n = std::min(r.count() - done_, schedule_.first[step.block + 1] - i);
    const u32 words = words_of(step, r);
    u32* to = room(trace::kRecordWords + words);
    to[0] = Record::make(step.place, n, r.transactions(), r.mask).head;
    to[1] = r.mask;
    std::copy_n(from_.at + trace::kRecordWords, words, to + trace::kRecordWords);
    filled_ += trace::kRecordWords + words;
    done_ += n;
    if (done_ == r.count()) end_record(words);
  }
  void end_record(u32 words) {
    from_.at += trace::kRecordWords + words;
    done_ = 0;
  }

  /// What a block that has been executed as a whole has in its records.
  struct Whole {
    const u32* own[WholeBlock::kMaxOwn];  // of instructions with a record of their own
    u32 number = 0, payload = 0;          // of these; words
    u32 mask = 0, last_mask = 0;          // of instructions that share; of the last one of all
  };

  /// A block that has been executed as a whole, if all its records are at hand; otherwise nothing
  /// has happened. Instruction by instruction the same would come out.
  bool put_out_whole(u32 i) {
    const u32 block = steps_[i].block;
    const WholeBlock& whole = schedule_.whole[block];
    if (i != schedule_.first[block] || whole.outputs.empty()) return false;
    Whole found;
    if (!find_whole(i, schedule_.first[block + 1], whole, found)) return false;
    write(whole, found);
    return true;
  }
  bool find_whole(u32 begin, u32 end, const WholeBlock& whole, Whole& found) {
    WarpCursor at = from_;
    u32 done = done_;
    for (u32 k = begin, n = 0, shared = 0; k < end; k += n) {
      if (at.at == at.end && !(keeps_ && inner_.refill(at))) return false;
      const Record record{at.at[0], at.at[1]};
      if (record.inst() + done != k) return false;
      n = std::min(record.count() - done, end - k);
      const u32 run = whole.runs[k - begin];
      if (n > std::max(run, 1u)) return false;
      u32 words = 0;
      if (run == 0) {
        words = words_of(steps_[k], record);
        found.own[found.number++] = at.at;
      } else if (n != 1 || !steps_[k].dropped) {  // what is dropped was under any mask
        found.last_mask = record.mask;
        if (k + 1 != end || shared == 0 || !whole.last_stays) {
          if (shared != 0 && record.mask != found.mask) return false;
          found.mask = record.mask;
          shared = 1;
        }
      }
      found.payload += words;
      done += n;
      if (done != record.count()) continue;
      at.at += trace::kRecordWords + words;
      done = 0;
    }
    from_ = at;
    done_ = done;
    return true;
  }
  void write(const WholeBlock& whole, const Whole& found) {
    u32* const start = room((whole.outputs.size() + 1) * trace::kRecordWords + found.payload);
    u32* to = start;
    for (const WholeBlock::Output& out : whole.outputs) {
      if (out.number == 0) {
        to[0] = out.head;
        to[1] = found.mask;
        to += trace::kRecordWords;
        continue;
      }
      const u32* const first = found.own[whole.own[out.own]];
      const Record r{first[0], first[1]}, bare{out.head, 0};
      u32 transactions = r.transactions();
      for (unsigned k = 1; k < out.number; ++k) {  // as take() does
        const u32* const other = found.own[whole.own[out.own + k]];
        transactions = std::max(transactions, Record{other[0], other[1]}.transactions());
      }
      to[0] = Record::make(bare.inst(), 1, transactions, r.mask).head;
      to[1] = r.mask;
      const u32 words = out.carries ? r.transactions() * trace::kTransactionWords : 0;
      to = std::copy_n(first + trace::kRecordWords, words, to + trace::kRecordWords);
    }
    if (whole.outputs.back().number == 0 && found.last_mask != found.mask)
      to = part_last(to, found);
    filled_ += static_cast<std::size_t>(to - start);
  }
  /// A predicated branch at the end, under another mask than what stands before it.
  static u32* part_last(u32* to, const Whole& found) {
    const Record both{to[-2], to[-1]};
    if (both.count() > 1) {
      to[-2] = Record::make(both.inst(), both.count() - 1, 0, both.mask).head;
      to[0] = Record::make(both.inst() + both.count() - 1, 1, 0, 0).head;
      to += trace::kRecordWords;
    }
    to[-1] = found.last_mask;
    return to;
  }

  /// Entries of the next run of a block, by their turns: its instructions rise.
  void gather() {
    entries_.clear();
    payload_.clear();
    decisions_.clear();
    u32 block = kNothing;
    for (u32 last = 0; more();) {
      const Record r = record();
      const ScheduleStep* step = steps_ + r.inst() + done_;
      const u32 words = words_of(*step, r);
      for (; done_ < r.count(); ++done_, ++step) {
        if (step->block != block || step->as <= last) {
          if (block != kNothing) return;
          block = step->block;
          turns_.assign(schedule_.begin[block + 1] - schedule_.begin[block], kNothing);
        }
        while (!decisions_.empty() && step->as >= steps_[decisions_.back().branch].meeting)
          pass_sides();
        last = step->as;
        if (!step->dropped) take(*step, r, words);
        else if (step->meeting != trace::kNoRegister) decisions_.push_back({step->as, r.mask});
      }
      end_record(words);
    }
  }

  /// The lanes are behind the sides of the last branch that was decided. What is predicated is
  /// issued even if no lane does anything: then under the mask that the branch had.
  void pass_sides() {
    const auto [branch, mask] = decisions_.back();
    decisions_.pop_back();
    for (u32 k = branch + 1; k < steps_[branch].meeting; ++k) {
      const ScheduleStep& step = steps_[k];
      if (step.dropped || schedule_.joined[k] || turns_[step.turn] != kNothing) continue;
      add(step, {step.place, mask, 0, 0, 0, step.shares});
    }
  }

  void take(const ScheduleStep& step, const Record& r, u32 words) {
    if (turns_[step.turn] != kNothing) {
      // Joined loads take of the banks together as much as the worst of them.
      Entry& first = entries_[turns_[step.turn]];
      first.transactions = std::max(first.transactions, r.transactions());
      return;
    }
    const u32 payload = static_cast<u32>(payload_.size());
    add(step, {step.place, r.mask, r.transactions(), payload, words, step.shares});
    const u32* from = from_.at + trace::kRecordWords;
    payload_.insert(payload_.end(), from, from + words);
  }
  void add(const ScheduleStep& step, const Entry& entry) {
    turns_[step.turn] = static_cast<u32>(entries_.size());
    entries_.push_back(entry);
  }

  /// What follows in the block's order under the same mask and without payload shares a record.
  void put_out() {
    u32* const start = room(entries_.size() * trace::kRecordWords + payload_.size());
    u32* to = start;
    u32 place = kNothing, mask = 0, count = 0;  // of the record at to[-2], if others may join
    for (const u32 turn : turns_) {
      if (turn == kNothing) continue;
      const Entry& e = entries_[turn];
      if (e.shares && e.mask == mask && e.place == place + count && count < trace::kMaxRun &&
          place != kNothing) {
        ++count;
        to[-2] = Record::make(place, count, 0, mask).head;
        continue;
      }
      place = e.shares ? e.place : kNothing;
      mask = e.mask;
      count = 1;
      to[0] = Record::make(e.place, 1, e.shares ? 0 : e.transactions, mask).head;
      to[1] = mask;
      to = std::copy_n(payload_.data() + e.payload, e.words, to + trace::kRecordWords);
    }
    filled_ += static_cast<std::size_t>(to - start);
  }

  trace::KernelStream& inner_;
  const Schedule& schedule_;
  const ScheduleStep* steps_;
  bool keeps_;
  WarpCursor from_;
  u32 done_ = 0;  // instructions of the record at from_ that have been taken
  std::vector<Entry> entries_;
  std::vector<u32> turns_;  // by place in the block: its entry
  struct Decision {
    u32 branch, mask;
  };
  std::vector<Decision> decisions_;  // whose sides the lanes have not left yet
  std::vector<u32> payload_, out_;
  std::size_t filled_ = 0;  // of out_
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
  Warps& warps = warps_[block];
  if (warps.empty()) warps = take_spare();
  warps[warp]->start(block, warp);
  WarpCursor out;
  out.position = warps[warp].get();
  const bool any = warps[warp]->next(out);
  RADDLE_ASSERT(any);
  return out;
}

ScheduledStream::Warps ScheduledStream::take_spare() {
  {
    const std::scoped_lock lock(mutex_);
    if (!spare_.empty()) {
      Warps out = std::move(spare_.back());
      spare_.pop_back();
      return out;
    }
  }
  Warps out(inner_->shape().warps_per_block());
  for (auto& warp : out) warp = std::make_unique<Warp>(*inner_, *schedule_);
  return out;
}

bool ScheduledStream::refill(WarpCursor& cursor) {
  return static_cast<Warp*>(cursor.position)->next(cursor);
}

void ScheduledStream::close(u32 block) {
  RADDLE_ASSERT(!warps_[block].empty());
  {
    const std::scoped_lock lock(mutex_);
    spare_.push_back(std::move(warps_[block]));
  }
  warps_[block].clear();
  inner_->close(block);
}

}  // namespace raddle::lowering
