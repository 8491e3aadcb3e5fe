// The DRAM suite: a little channel with banks, rows and a few timings, enough that requests are
// ready at different times and in different ways.
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::DramPolicy;
using policy::DramTag;

class RandomChannel {
 public:
  static constexpr unsigned kSlots = 32, kBanks = 4;

  explicit RandomChannel(std::uint64_t seed) : rng_(seed, "channel"), tags_(kSlots) {}

  unsigned waiting() const { return used_.count(); }
  /// Cycles the oldest request has waited.
  std::uint64_t longest_wait() const { return used_.any() ? now_ - since_[age_.oldest(used_)] : 0; }

  /// A new request with a chance of `load` out of 8. The heavier the load, the more go to row 0 of
  /// bank 0: a stream of row hits that does not end, with a lone stranger now and then.
  void maybe_arrive(unsigned load) {
    if (rng_.below(8) >= load || waiting() == kSlots) return;
    unsigned slot = 0;
    while (used_.test(slot)) ++slot;
    tags_[slot] = {static_cast<std::uint16_t>(rng_.below(16)), 0, rng_.below(4) == 0,
                   static_cast<std::uint8_t>(rng_.below(8) < load ? 0 : rng_.below(kBanks))};
    tags_[slot].tenant = static_cast<TenantId>((tags_[slot].sm + slot) % 3);
    tags_[slot].core_rank = static_cast<std::uint8_t>((tags_[slot].sm + slot) % policy::kCoreRanks);
    row_[slot] = rng_.below(1u << load) < 2 ? rng_.below(8) : 0;
    since_[slot] = now_;
    used_.set(slot);
    age_.insert(slot);
  }

  /// Moves on a cycle; false when nothing is issuable (then nobody is asked).
  bool step() {
    ++now_;
    hits_ = issuable_ = closes_ = {};
    used_.each([this](unsigned slot) {
      const Bank& bank = bank_[tags_[slot].bank];
      if (bank.row == row_[slot]) hits_.set(slot);
      if (bank.ready <= now_) issuable_.set(slot);
    });
    (issuable_ - hits_).each([this](unsigned slot) {
      const unsigned bank = tags_[slot].bank;
      bool wanted = false;
      hits_.each([&](unsigned other) { wanted = wanted || tags_[other].bank == bank; });
      if (wanted) closes_.set(slot);
    });
    return issuable_.any();
  }
  policy::DramView view() const { return {used_, hits_, issuable_, closes_, age_, tags_, now_}; }

  /// Rules an answer must keep; then its command is performed.
  std::string perform(unsigned slot) {
    if (slot >= kSlots || !issuable_.test(slot))
      return "picked slot " + std::to_string(slot) + ", which cannot issue (cycle " +
             std::to_string(now_) + ")";
    Bank& bank = bank_[tags_[slot].bank];
    if (bank.row == row_[slot]) {
      used_.clear(slot);
      age_.remove(slot);
      bank.ready = now_ + 2;
    } else {
      bank.row = bank.row == kClosed ? row_[slot] : kClosed;
      bank.ready = now_ + 6;
    }
    return "";
  }

 private:
  static constexpr std::uint32_t kClosed = ~0u;
  struct Bank {
    std::uint32_t row = kClosed;
    std::uint64_t ready = 0;
  };
  Rng rng_;
  std::vector<DramTag> tags_;
  std::uint32_t row_[kSlots] = {};
  std::uint64_t since_[kSlots] = {};
  Bank bank_[kBanks];
  Mask128 used_, hits_, issuable_, closes_;
  AgeMatrix128 age_;
  std::uint64_t now_ = 0;
};

/// One cycle with a policy that is asked once (`asked_twice`: repeatedly, as a channel that does
/// not skip may do).
std::string serve(RandomChannel& channel, DramPolicy& once, DramPolicy& often) {
  const policy::DramView view = channel.view();
  const std::optional<unsigned> pick = once.pick(view);
  for (int again = 0; again < 3; ++again)
    if (often.pick(view) != pick) return "being asked more often changes the answer";
  return pick ? channel.perform(*pick) : "";
}

/// What three tenants have done: anything, and now and then nothing.
using Counts = std::array<policy::TenantCounts, kMaxTenants>;
Counts random_counts(Rng& rng) {
  Counts out;
  for (unsigned t = 0; t < 3; ++t) {
    out[t].instructions = rng.below(4) == 0 ? 0 : rng.below(100'000);
    out[t].dram_reads = rng.below(4) == 0 ? 0 : rng.below(1000);
    out[t].dram_bytes = 32 * out[t].dram_reads;
  }
  return out;
}

}  // namespace

std::string check_dram(const Make<DramPolicy>& make, std::uint64_t seed, DramPromises promises) {
  // 32 row misses one after the other take 32 x 14 cycles.
  constexpr std::uint64_t kLongest = 2'000;
  DramPolicy::Context context;
  context.banks = RandomChannel::kBanks;
  context.seed = seed;
  std::unique_ptr<DramPolicy> once = make(context), often = make(context);
  RandomChannel channel(seed);
  Rng rng(seed, "tenants");
  for (unsigned round = 0; round < 8; ++round) {
    for (unsigned cycle = 0; cycle < 30'000; ++cycle) {
      channel.maybe_arrive(1 + round);
      if (once->wants_tenants_every() != 0 && cycle % 5'000 == 4'999) {
        const Counts counts = random_counts(rng);
        once->learn(counts);
        often->learn(counts);
      }
      if (!channel.step()) continue;
      if (std::string broken = serve(channel, *once, *often); !broken.empty()) return broken;
      if (promises.no_starvation && channel.longest_wait() > kLongest)
        return "a request has waited " + std::to_string(channel.longest_wait()) + " cycles";
    }
    for (unsigned cycle = 0; channel.waiting() != 0; ++cycle) {
      if (cycle == kLongest)
        return std::to_string(channel.waiting()) + " requests are never served";
      if (!channel.step()) continue;
      if (std::string broken = serve(channel, *once, *often); !broken.empty()) return broken;
    }
  }
  return "";
}

}  // namespace raddle::contract
