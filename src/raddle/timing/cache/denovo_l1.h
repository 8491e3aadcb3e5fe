// The L1 side of DeNovo: tags with a state per word, MSHRs, registrations and write-backs under
// way, and what the bank and other L1s ask for. No clock and no wires (`now` is for observers):
// accesses and messages go in, answers and messages come out, whoever carries them (the load/store
// unit, or a test's network that delays them as it likes; messages arrive in any order, but for
// what a bank tells one L1, see in_order_from_bank).
//
// Protocol (Choi et al., PACT 2011; Sinclair et al., MICRO 2015; IKRA section 3), for programs
// without data races. A word in an L1 is Invalid, Valid or Registered; the home bank keeps the data
// of a word or the L1 where it is registered.
//   load: hits Valid and Registered words; else Read to the bank, which answers with all it has of
//     the line and forwards words registered elsewhere to their owner, which answers itself and
//     stays the owner. What comes is Valid.
//   store: makes the words Registered at once, in a way of their own if the line is absent (nothing
//     is fetched). A registration is put into the store buffer, where those of a line combine; the
//     store is done when it has been acknowledged. A former owner is told and acknowledges itself,
//     so that a release waits until no stale copy is left.
//   atomic: is performed here on Registered words; else Own to the bank, which has the data sent,
//     by the former owner if there is one.
//   acquire: invalidates all Valid words, or those of regions that somebody has written since the
//     last acquire (keep_unwritten); a release has nothing to flush.
//   eviction: Registered words are written back to the bank, Valid ones dropped.
// The L2 includes registered words: before a bank gives a line's way to another it recalls them.
//
// Races between messages, and why they are harmless:
// - A line with a registration or an Own under way keeps its way, and a line whose WriteBack is
//   under way is not asked for. So Register and WriteBack of one L1 and line cannot overtake each
//   other.
// - Data of a WriteBack stay until the bank has taken it. What the bank tells this L1 comes in the
//   order in which it was sent, so a Forward, Take or Recall always finds them.
// - A Forward, Take, Invalidate or Recall of words whose Own is under way waits for their data.
// - A Read's answer that comes after an acquire completes its loads and leaves nothing valid; loads
//   behind the acquire do not merge with it.
// - Words that come with an answer never replace Registered ones.
// - A word is registered only when it is not Registered here and no Own for it is under way, so
//   that what the bank says about an earlier ownership has come before. A store of which a part is
//   under way and another is not waits until it is. This matters to programs with races, which must
//   not break the protocol either.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/l1_events.h"
#include "raddle/timing/cache/most_taken.h"
#include "raddle/timing/cache/region_writes.h"
#include "raddle/timing/cache/store_buffer.h"
#include "raddle/timing/cache/way_shares.h"
#include "raddle/timing/spec/l1_spec.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

class DenovoL1 {
 public:
  /// Lines that a bank recalls at once, at most.
  static constexpr unsigned kRecallsOfBank = 16;

  enum class Outcome : std::uint8_t { Hit, Miss, Blocked };
  struct Answer {
    Outcome outcome;
    stats::Refusal why;  ///< Blocked: nothing has changed
    bool asked;          ///< Miss: a request has gone out, else one is under way
  };
  struct Access {
    std::uint32_t line = 0;
    WordMask words = 0;
    std::uint8_t kernel = 0;
    std::uint16_t waiter = 0;  ///< comes back when a Miss is over
    std::uint8_t warp = 0;     ///< for observers
  };
  /// Words of a present line by state.
  struct Words {
    WordMask valid = 0, registered = 0, owning = 0;  ///< owning: an Own is under way
  };

  /// `sm`: this L1 among `sms`; `banks`: of the machine. Precondition: lines have 64 bytes.
  DenovoL1(const L1dSpec& spec, unsigned sm, unsigned sms, unsigned banks);

  // --- accesses of the SM ------------------------------------------------------------------------
  /// `fresh`: Valid words may not be used (volatile loads). `can_send`: room for one request; the
  /// same for the others.
  Answer load(Cycle now, const Access& a, bool fresh, bool can_send);
  /// Hit: done. Miss: acknowledged(waiter) will come; the waiter is a warp.
  Answer store(Cycle now, const Access& a, bool can_send);
  Answer atomic(Cycle now, const Access& a, bool can_send);
  void acquire(Cycle now);
  /// From now on an acquire keeps words of regions that have not been written since the last one,
  /// as told by `writes`, which must outlive the cache.
  void keep_unwritten(const RegionWrites& writes) { writes_ = &writes; }
  /// What this SM has written, for `writes` to gather.
  std::vector<RegionWrite>& written() { return written_; }
  /// Valid words that an acquire has kept.
  std::uint64_t kept() const { return kept_; }

  /// The host has taken these words, while nothing is under way. Those that are being written back
  /// are not owned here any more.
  void lose(std::uint32_t line, WordMask words);
  /// As L1d::share_ways.
  void share_ways(const WayShares* shares) { shares_ = shares; }

  // --- messages ----------------------------------------------------------------------------------
  /// The sink has completed(waiter, stats::ServedFrom) for loads and atomics, acknowledged(warp)
  /// for stores, and answered(kind) when the last answer to a request has come.
  template <class Sink>
  void receive(Cycle now, const Message& m, Sink sink);
  /// The oldest registration goes to requests().
  void send_registration();
  bool any_registration() const { return store_buffer_.any_waiting(); }
  bool stores_full() const { return store_buffer_.full(); }

  /// To the banks; write-backs, as many as there are lines at most, are kept apart until there is
  /// room.
  Ring<Message>& requests() { return requests_; }
  Ring<Message>& write_backs() { return write_backs_; }
  /// To other L1s and to banks, for the network whose receivers always accept.
  Ring<Message>& responses() { return responses_; }
  const Ring<Message>& requests() const { return requests_; }
  const Ring<Message>& write_backs() const { return write_backs_; }
  const Ring<Message>& responses() const { return responses_; }

  /// The observer must outlive the cache. It is told of evictions, fills and acquires here, and of
  /// accesses by the owner; lines are whole to it.
  void observe(policy::L1Observer& observer);
  /// Null while nobody observes.
  L1Events* events() { return events_.get(); }

  bool idle() const;
  unsigned missing() const { return entries_used_; }
  MaxTaken& max_mshrs() { return max_mshrs_; }
  unsigned registrations_under_way() const { return registrations_; }
  Words words(std::uint32_t line) const;

 private:
  static constexpr unsigned kAbsent = ~0u;
  struct Way {
    std::uint32_t line = 0;
    WordMask valid = 0, registered = 0, owning = 0;
    std::uint16_t pins = 0;  // registrations and Owns under way
    bool present = false;
    std::uint64_t used = 0;
  };
  struct Waiter {
    std::uint16_t id = 0;
    WordMask need = 0;
    bool atomic = false;
    std::uint32_t epoch = 0;
  };
  /// A Read or Own under way.
  struct Entry {
    std::uint32_t line = 0, epoch = 0;
    WordMask left = 0;
    bool used = false, owns = false;
    std::vector<Waiter> waiting;
  };
  struct WriteBackEntry {
    std::uint32_t line = 0;
    WordMask words = 0;
    bool used = false;
  };

  static Answer blocked(stats::Refusal why) { return {Outcome::Blocked, why, false}; }
  unsigned set_of(std::uint32_t line) const;
  unsigned find(std::uint32_t line) const;
  unsigned victim(std::uint32_t line, unsigned kernel) const;
  Answer ask(Cycle now, const Access& a, WordMask missing, bool own, bool can_send);
  unsigned free_way(Cycle now, std::uint32_t line, unsigned kernel);
  Answer hit(unsigned at, const Access& a);
  void note_write(Cycle now, std::uint32_t line) {
    if (writes_ != nullptr) [[unlikely]]
      add_write(now, line);
  }
  void add_write(Cycle now, std::uint32_t line);
  void report_evicted(Cycle now, unsigned at, policy::L1Eviction::Why why);
  Message request(MessageKind kind, std::uint32_t line, WordMask words, unsigned tag,
                  unsigned kernel) const;
  void install(Cycle now, const Entry& e, const Message& m);
  void asked_by_bank(const Message& m);
  void answer(const Message& m, WordMask words);
  WordMask in_write_back(std::uint32_t line) const;
  void answer_deferred(std::uint32_t line);
  template <class Sink>
  void data(Cycle now, const Message& m, Sink& sink);

  unsigned sm_, ways_, merges_;
  bool hash_;
  Divisor sets_;
  Interleave interleave_;
  std::vector<Way> way_;
  std::vector<Entry> entry_;
  std::vector<WriteBackEntry> write_back_;
  std::vector<Message> deferred_;
  StoreBuffer store_buffer_;
  Ring<Message> requests_, write_backs_, responses_;
  std::uint64_t uses_ = 0;
  std::uint32_t epoch_ = 0;
  std::unique_ptr<L1Events> events_;
  const RegionWrites* writes_ = nullptr;
  const WayShares* shares_ = nullptr;
  std::vector<RegionWrite> written_;
  Cycle acquired_ = 0;
  std::uint64_t kept_ = 0;
  MaxTaken max_mshrs_;
  unsigned entries_used_ = 0, registrations_ = 0, write_backs_used_ = 0;
};

template <class Sink>
void DenovoL1::receive(Cycle now, const Message& m, Sink sink) {
  switch (m.kind) {
    case MessageKind::Read:
    case MessageKind::Remote:
    case MessageKind::Owned:
      return data(now, m, sink);
    case MessageKind::Registered:
      note_write(now, m.line);
      if (store_buffer_.acknowledge(m.tag, m.words, [&](unsigned w) { sink.acknowledged(w); })) {
        --registrations_;
        --way_[find(m.line)].pins;
        sink.answered(MessageKind::Register);
      }
      return;
    case MessageKind::WroteBack:
      write_back_[m.tag].used = false;
      --write_backs_used_;
      return sink.answered(MessageKind::WriteBack);
    default:
      return asked_by_bank(m);
  }
}

template <class Sink>
void DenovoL1::data(Cycle now, const Message& m, Sink& sink) {
  Entry& asked = entry_[m.tag];
  RADDLE_ASSERT(asked.used && asked.line == m.line);
  install(now, asked, m);
  asked.left &= static_cast<WordMask>(~m.words);
  if (asked.left == 0) {
    if (asked.owns) --way_[find(m.line)].pins;
    else if (events_ != nullptr)  // one fill for each miss, however many have answered
      events_->filled({now, m.line, 1, events_->requester(m.tag)});
    sink.answered(asked.owns ? MessageKind::Own : MessageKind::Read);
  }
  const stats::ServedFrom from = m.peer != kFromBank    ? stats::ServedFrom::RemoteL1
                                 : m.dram_accesses != 0 ? stats::ServedFrom::Memory
                                                        : stats::ServedFrom::L2;
  for (Entry& e : entry_) {
    if (!e.used || e.line != m.line) continue;
    for (Waiter& w : e.waiting) {
      // An Own's data serve everybody; a Read's only loads of its time.
      if (w.need == 0 || (!asked.owns && (w.atomic || w.epoch != asked.epoch))) continue;
      w.need &= static_cast<WordMask>(~m.words);
      if (w.need == 0) sink.completed(w.id, from);
    }
    std::erase_if(e.waiting, [](const Waiter& w) { return w.need == 0; });
    if (e.left == 0 && e.waiting.empty()) {
      e.used = false;
      --entries_used_;
    }
  }
  if (asked.owns) answer_deferred(m.line);
}

}  // namespace raddle::timing
