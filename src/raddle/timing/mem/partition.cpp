#include "raddle/timing/mem/partition.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "raddle/base/ring.h"
#include "raddle/timing/mem/denovo_slice.h"
#include "raddle/timing/mem/l2_slice.h"

namespace raddle::timing {
namespace {

/// Places of the DRAM queue that write-backs leave to reads.
unsigned kept_for_reads(const DramSpec& dram) { return std::min(8u, dram.queue / 4); }

/// L2Slice or DenovoSlice. A template, because slices are called every cycle.
template <class Slice>
class PartitionOf final : public Partition {
 public:
  PartitionOf(const PartitionSpec& spec, const AddressMap& map,
              std::unique_ptr<policy::DramPolicy> policy);

  unsigned slices() const override { return static_cast<unsigned>(slice_.size()); }
  SlicePorts& ports(unsigned place) override { return slice_[place]->ports(); }
  DramChannel& dram() override { return dram_; }
  void set_skip(bool skip) override;
  void set_ahead(bool ahead) override {
    for (auto& slice : slice_) slice->set_ahead(ahead);
  }
  Cycle next_arrival(Cycle from) const override;
  void open_window() override;
  void prefetch(Cycle end) override;
  Cycle run(Cycle from, Cycle end) override;
  void host(unsigned place, const HostLine& access, HostEffects& effects) override {
    slice_[place]->host(access, effects);
  }
  void forget() override {
    for (auto& slice : slice_) slice->forget();
  }
  void obey(Cycle at, const policy::Knobs& knobs) override;
  void replace_by(const policy::Choice<policy::L2ReplacementPolicy>& choice,
                  std::uint64_t seed) override;
  void observe(unsigned place, policy::L2Observer& observer) override {
    slice_[place]->observe(observer);
  }
  policy::L2ReplacementPolicy* replacement(unsigned place) const override {
    if constexpr (std::is_same_v<Slice, L2Slice>) return slice_[place]->replacement();
    else return nullptr;
  }
  void learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts) override {
    dram_.learn(at, counts);
    called_ = at;
  }
  bool idle() const override;
  void describe(std::string& out) const override;
  stats::L2Counters slice_counters(unsigned place) const override {
    return slice_[place]->counters();
  }
  stats::L2Counters l2_counters() const override;
  stats::L2Counters l2_counters(unsigned kernel) const override;
  std::vector<std::string> audit() const override;

 private:
  Cycle step(Cycle now);
  void take_replies(Cycle now);
  void tick_slices(Cycle now);
  void wake_blocked(Cycle from);
  void wake(unsigned place, Cycle at) {
    slice_due_[place] = std::min(slice_due_[place], at);
    slices_due_ = std::min(slices_due_, at);
  }
  bool send_write_backs(Cycle now);

  unsigned channel_, kept_for_reads_, l2_sets_, l2_ways_;
  bool skip_ = true;
  DramChannel dram_;
  Ring<WriteBack> write_backs_;
  std::vector<std::unique_ptr<Slice>> slice_;
  std::vector<Cycle> slice_due_;
  Cycle slices_due_ = 0;   // the earliest of them
  Cycle called_ = kNever;  // when knobs change, or the DRAM policy has learnt something
  WayShares shares_{kMaxTenants};
};

template <class Slice>
PartitionOf<Slice>::PartitionOf(const PartitionSpec& spec, const AddressMap& map,
                                std::unique_ptr<policy::DramPolicy> policy)
    : channel_(spec.channel.id),
      kept_for_reads_(kept_for_reads(spec.channel.dram)),
      l2_sets_(spec.l2.sets()),
      l2_ways_(spec.l2.ways),
      dram_(spec.channel, map, std::move(policy)),
      // Held back at the limit; beyond it come one per slice in the same cycle and one per fill
      // under way.
      write_backs_(spec.l2.write_back_queue + spec.slices + spec.channel.dram.queue +
                   dram_.replies().capacity() + spec.slices * DenovoSlice::max_late_write_backs()),
      slice_due_(spec.slices, 0) {
  for (unsigned i = 0; i < spec.slices; ++i)
    slice_.push_back(std::make_unique<Slice>(spec, map, i, dram_, write_backs_));
}

template <class Slice>
void PartitionOf<Slice>::set_skip(bool skip) {
  skip_ = skip;
  dram_.set_skip(skip);
  for (auto& slice : slice_) slice->set_skip(skip);
}

template <class Slice>
Cycle PartitionOf<Slice>::next_arrival(Cycle from) const {
  Cycle next = called_;
  for (const auto& slice : slice_) next = std::min(next, slice->next_arrival());
  return std::max(next, from);
}

template <class Slice>
void PartitionOf<Slice>::open_window() {
  called_ = kNever;
  for (unsigned i = 0; i < slices(); ++i) wake(i, slice_[i]->next_arrival());
}

template <class Slice>
void PartitionOf<Slice>::prefetch(Cycle end) {
  if constexpr (requires(Slice & s) { s.prefetch(end); }) {
    const Ring<DramReply>& replies = dram_.replies();
    auto each_fill = [&](auto visit) {
      for (unsigned i = 0; i < replies.size() && replies[i].at < end; ++i)
        visit(*slice_[replies[i].slice], replies[i]);
    };
    each_fill([](const Slice& s, const DramReply& r) { s.prefetch_entry(r.tag, r.line); });
    for (const auto& slice : slice_) slice->prefetch(end);
    each_fill([](const Slice& s, const DramReply& r) { s.prefetch_set(r.tag); });
    each_fill([](const Slice& s, const DramReply& r) { s.prefetch_victim(r.tag); });
  }
}

template <class Slice>
Cycle PartitionOf<Slice>::run(Cycle from, Cycle end) {
  while (from < end) from = step(from);
  return from;
}

template <class Slice>
[[gnu::always_inline]] inline Cycle PartitionOf<Slice>::step(Cycle now) {
  const Ring<DramReply>& replies = dram_.replies();
  if (!replies.empty() && replies.front().at <= now) take_replies(now);
  if (slices_due_ <= now || !skip_) tick_slices(now);
  bool freed = !write_backs_.empty() && send_write_backs(now);
  if (dram_.due() <= now || !skip_) {
    const unsigned free = dram_.free_slots();
    dram_.tick(now);
    freed |= dram_.free_slots() != free;
  }
  if (freed) {
    wake_blocked(now + 1);
    if (!write_backs_.empty()) return now + 1;
  }
  Cycle next = std::min(slices_due_, dram_.due());
  if (!replies.empty()) next = std::min(next, replies.front().at);
  return std::max(next, now + 1);
}

template <class Slice>
void PartitionOf<Slice>::obey(Cycle at, const policy::Knobs& knobs) {
  for (unsigned t = 0; t < kMaxTenants; ++t) shares_.set(t, knobs.tenant[t].l2_ways);
  for (const auto& slice : slice_) slice->share_ways(shares_.any() ? &shares_ : nullptr);
  dram_.obey(at, knobs);
  called_ = at;
}

template <class Slice>
void PartitionOf<Slice>::replace_by(
    [[maybe_unused]] const policy::Choice<policy::L2ReplacementPolicy>& choice,
    [[maybe_unused]] std::uint64_t seed) {
  if constexpr (std::is_same_v<Slice, L2Slice>) {
    for (unsigned i = 0; i < slices(); ++i)
      slice_[i]->replace_by(choice.make({channel_ * slices() + i, l2_sets_, l2_ways_, seed}));
  } else {
    RADDLE_ASSERT(false);
  }
}

template <class Slice>
void PartitionOf<Slice>::take_replies(Cycle now) {
  for (Ring<DramReply>& replies = dram_.replies(); !replies.empty() && replies.front().at <= now;
       replies.pop()) {
    unsigned i = replies.front().slice;
    slice_[i]->fill(now, replies.front());
    wake(i, slice_[i]->next_event(now));
  }
}

/// The first to find room in the DRAM queue is another slice every cycle.
template <class Slice>
void PartitionOf<Slice>::tick_slices(Cycle now) {
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
template <class Slice>
void PartitionOf<Slice>::wake_blocked(Cycle from) {
  for (unsigned i = 0; i < slices(); ++i) wake(i, slice_[i]->retry_at(from));
}

/// Whether any went.
template <class Slice>
bool PartitionOf<Slice>::send_write_backs(Cycle now) {
  if (dram_.free_slots() <= kept_for_reads_) return false;
  for (; !write_backs_.empty() && dram_.free_slots() > kept_for_reads_; write_backs_.pop()) {
    const WriteBack& w = write_backs_.front();
    DramRequest write{.line = w.line,
                      .tag = 0,
                      .sm = w.sm,
                      .sectors = w.sectors,
                      .slice = w.slice,
                      .kernel = w.kernel,
                      .write = true};
    dram_.push(now, write.of(w.tenant, w.core_rank));
  }
  return true;
}

template <class Slice>
bool PartitionOf<Slice>::idle() const {
  return dram_.idle() && write_backs_.empty() &&
         std::all_of(slice_.begin(), slice_.end(), [](const auto& slice) { return slice->idle(); });
}

template <class Slice>
void PartitionOf<Slice>::describe(std::string& out) const {
  out += "partition " + std::to_string(channel_) + ": " + std::to_string(write_backs_.size()) +
         " write-backs wait; ";
  dram_.describe(out);
  for (const auto& slice : slice_) slice->describe(out);
}

template <class Slice>
stats::L2Counters PartitionOf<Slice>::l2_counters() const {
  stats::L2Counters sum;
  for (const auto& slice : slice_) stats::accumulate(sum, slice->counters());
  return sum;
}

template <class Slice>
stats::L2Counters PartitionOf<Slice>::l2_counters(unsigned kernel) const {
  stats::L2Counters sum;
  for (const auto& slice : slice_) stats::accumulate(sum, slice->counters(kernel));
  return sum;
}

template <class Slice>
std::vector<std::string> PartitionOf<Slice>::audit() const {
  std::vector<std::string> broken;
  for (const auto& slice : slice_) slice->audit(broken);
  if (!idle()) return broken;
  const stats::L2Counters l2 = l2_counters();
  const stats::DramCounters dram = dram_.counters();
  if (dram.reads != l2.fetches || dram.writes != l2.write_backs + l2.passed_on)
    broken.push_back("partition " + std::to_string(channel_) +
                     ": DRAM performs what the slices ask for");
  return broken;
}

}  // namespace

std::unique_ptr<Partition> make_partition(const PartitionSpec& spec, const AddressMap& map,
                                          std::unique_ptr<policy::DramPolicy> policy) {
  RADDLE_ASSERT(spec.slices == map.slices_per_channel());
  if (spec.coherence.ownership)
    return std::make_unique<PartitionOf<DenovoSlice>>(spec, map, std::move(policy));
  return std::make_unique<PartitionOf<L2Slice>>(spec, map, std::move(policy));
}

}  // namespace raddle::timing
