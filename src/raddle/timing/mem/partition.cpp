#include "raddle/timing/mem/partition.h"

#include <algorithm>
#include <bit>

namespace raddle::timing {
namespace {

/// Places of the DRAM queue that write-backs leave to reads.
unsigned kept_for_reads(const DramSpec& dram) { return std::min(8u, dram.queue / 4); }

}  // namespace

Partition::Partition(const MachineSpec& machine, const AddressMap& map, unsigned channel,
                     std::unique_ptr<policy::DramPolicy> policy)
    : channel_(channel),
      kept_for_reads_(kept_for_reads(machine.dram)),
      dram_(machine, map, std::move(policy)),
      // Held back at the limit; beyond it come one per slice in the same cycle and one per fill
      // under way.
      write_backs_(machine.l2.write_back_queue + map.slices_per_channel() + machine.dram.queue +
                   dram_.replies().capacity()),
      slice_due_(map.slices_per_channel(), 0) {
  for (unsigned i = 0; i < map.slices_per_channel(); ++i)
    slice_.push_back(std::make_unique<L2Slice>(machine, map, channel * map.slices_per_channel() + i,
                                               i, dram_, write_backs_));
}

void Partition::set_skip(bool skip) {
  skip_ = skip;
  dram_.set_skip(skip);
  for (auto& slice : slice_) slice->set_skip(skip);
}

Cycle Partition::next_arrival(Cycle from) const {
  Cycle next = kNever;
  for (const auto& slice : slice_) next = std::min(next, slice->next_arrival());
  return std::max(next, from);
}

void Partition::open_window() {
  for (unsigned i = 0; i < slices(); ++i) wake(i, slice_[i]->next_arrival());
}

Cycle Partition::tick(Cycle now) {
  const Ring<DramReply>& replies = dram_.replies();
  if (!replies.empty() && replies.front().at <= now) take_replies(now);
  if (slices_due_ <= now || !skip_) tick_slices(now);
  bool freed = !write_backs_.empty() && send_write_backs(now);
  if (dram_.due() <= now || !skip_) {
    unsigned room = dram_.room();
    dram_.tick(now);
    freed |= dram_.room() != room;
  }
  if (freed) {
    wake_blocked(now + 1);
    if (!write_backs_.empty()) return now + 1;
  }
  Cycle next = std::min(slices_due_, dram_.due());
  if (!replies.empty()) next = std::min(next, replies.front().at);
  return std::max(next, now + 1);
}

void Partition::take_replies(Cycle now) {
  for (Ring<DramReply>& replies = dram_.replies(); !replies.empty() && replies.front().at <= now;
       replies.pop()) {
    unsigned i = replies.front().slice;
    slice_[i]->fill(now, replies.front());
    wake(i, slice_[i]->next_event(now));
  }
}

/// The first to find room in the DRAM queue is another slice every cycle.
void Partition::tick_slices(Cycle now) {
  const unsigned n = slices();
  unsigned i = std::has_single_bit(n) ? static_cast<unsigned>(now) & (n - 1)
                                      : static_cast<unsigned>(now % n);
  Cycle next = kNever;
  for (unsigned left = n; left != 0; --left, i = i + 1 == n ? 0 : i + 1) {
    if (slice_due_[i] <= now || !skip_) slice_due_[i] = slice_[i]->tick(now);
    next = std::min(next, slice_due_[i]);
  }
  slices_due_ = next;
}

/// There is room again in the DRAM queue or for write-backs.
void Partition::wake_blocked(Cycle from) {
  for (unsigned i = 0; i < slices(); ++i) wake(i, slice_[i]->retry_at(from));
}

/// Whether any went.
bool Partition::send_write_backs(Cycle now) {
  if (dram_.room() <= kept_for_reads_) return false;
  for (; !write_backs_.empty() && dram_.room() > kept_for_reads_; write_backs_.pop()) {
    const WriteBack& w = write_backs_.front();
    dram_.push(now, {w.line, 0, w.sm, w.sectors, w.slice, w.kernel, true});
  }
  return true;
}

bool Partition::idle() const {
  return dram_.idle() && write_backs_.empty() &&
         std::all_of(slice_.begin(), slice_.end(), [](const auto& slice) { return slice->idle(); });
}

void Partition::describe(std::string& out) const {
  out += "partition " + std::to_string(channel_) + ": " + std::to_string(write_backs_.size()) +
         " write-backs wait; ";
  dram_.describe(out);
  for (const auto& slice : slice_) slice->describe(out);
}

stats::L2Counters Partition::l2_counters() const {
  stats::L2Counters sum;
  for (const auto& slice : slice_) stats::accumulate(sum, slice->counters());
  return sum;
}

stats::L2Counters Partition::l2_counters(unsigned kernel) const {
  stats::L2Counters sum;
  for (const auto& slice : slice_) stats::accumulate(sum, slice->counters(kernel));
  return sum;
}

std::vector<std::string> Partition::audit() const {
  std::vector<std::string> broken;
  for (const auto& slice : slice_) slice->audit(broken);
  if (!idle()) return broken;
  const stats::L2Counters l2 = l2_counters();
  const stats::DramCounters dram = dram_counters();
  if (dram.reads != l2.fetches || dram.writes != l2.write_backs + l2.passed_on)
    broken.push_back("partition " + std::to_string(channel_) +
                     ": DRAM performs what the slices ask for");
  return broken;
}

}  // namespace raddle::timing
