// The queues of SMX-Bind and Adaptive-Bind (LaPerm, sections IV.B and IV.C, figures 5c and 6;
// docs/mechanisms/laperm.md): what a kernel has launched waits in the queues of the SMX where its
// direct parent runs, what the host has launched in one queue for all. SMXs are visited one by one,
// and each visit names one candidate in up to three stages: of the SMX's own queues, when these are
// empty of the host's, and when that is empty too, and the policy adapts, of the queues of another
// SMX, which then stays the backup until they are empty. In a cluster SMXs share queues. Free of
// simulator types.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/policy/dispatch/launch_queues.h"

namespace raddle::policy {

class BoundQueues {
 public:
  using Entry = LevelQueues::Entry;
  struct Rules {
    unsigned sms = 1;
    unsigned cluster = 1;      ///< SMXs that share queues
    unsigned top = 4;          ///< levels 1 to top for what kernels launch
    std::size_t places = 128;  ///< on the chip, of a cluster's queues
    bool adapts = false;
    bool longest = false;  ///< the backup is the one with most entries, not the next that has any
  };
  explicit BoundQueues(const Rules& rules)
      : rules_(rules), clusters_((rules.sms + rules.cluster - 1) / rules.cluster, Cluster(rules)) {}

  /// Level 0: the host's, `sm` says nothing. False: it is in memory, and no candidate before
  /// fetched().
  bool insert(Entry entry, unsigned sm, unsigned level) {
    if (level == 0) {
      host_.push(entry, 0);
      return true;
    }
    Cluster& own = of(sm);
    if (!own.table.add(entry, level)) return false;
    own.ready.push(entry, level);
    return true;
  }
  void fetched(Entry entry, unsigned sm, unsigned level) { of(sm).ready.push(entry, level); }
  /// It has nothing left to give. Returns what is fetched from memory into its place.
  std::optional<Entry> remove(Entry entry, unsigned sm, unsigned level) {
    if (level == 0) {
      host_.remove(entry, 0);
      return std::nullopt;
    }
    Cluster& own = of(sm);
    own.ready.remove(entry, level);
    return own.table.remove();
  }

  enum class Stage : std::uint8_t { Own, Host, Backup };
  struct Candidate {
    Entry entry;
    Stage stage;
  };
  /// A visit: whose block goes to the SMX next, if it fits; entries that are not offered(entry) are
  /// passed over.
  template <class F>
  std::optional<Candidate> visit(unsigned sm, F offered) {
    Cluster& own = of(sm);
    if (!own.table.empty()) return named(own.ready.first(offered), Stage::Own);
    if (!host_.empty()) return named(host_.first(offered), Stage::Host);
    if (!rules_.adapts) return std::nullopt;
    if (!own.backup || clusters_[*own.backup].table.empty()) own.backup = choose_backup(sm);
    if (!own.backup) return std::nullopt;
    return named(clusters_[*own.backup].ready.first(offered), Stage::Backup);
  }
  std::optional<Candidate> visit(unsigned sm) {
    return visit(sm, [](Entry) { return true; });
  }

  /// Entries of the SMX's queues, in memory and on the way from there too.
  std::size_t size(unsigned sm) const { return of(sm).table.on_chip() + of(sm).table.in_memory(); }
  /// Entries on the chip that a search for the place of a new one meets.
  std::size_t ahead(unsigned sm, unsigned level) const { return of(sm).ready.ahead(level); }

 private:
  struct Cluster {
    explicit Cluster(const Rules& rules) : table(rules.top, rules.places), ready(rules.top) {}
    EntryTable table;
    LevelQueues ready;               // those on the chip
    std::optional<unsigned> backup;  // a cluster
  };
  Cluster& of(unsigned sm) { return clusters_.at(sm / rules_.cluster); }
  const Cluster& of(unsigned sm) const { return clusters_.at(sm / rules_.cluster); }
  static std::optional<Candidate> named(std::optional<Entry> entry, Stage stage) {
    if (!entry) return std::nullopt;
    return Candidate{*entry, stage};
  }
  std::optional<unsigned> choose_backup(unsigned sm) const {
    const auto count = static_cast<unsigned>(clusters_.size());
    std::optional<unsigned> best;
    std::size_t maximum = 0;
    for (unsigned i = 1; i < count; ++i) {
      const unsigned c = (sm / rules_.cluster + i) % count;
      const std::size_t size = clusters_[c].table.on_chip() + clusters_[c].table.in_memory();
      if (size <= maximum) continue;
      best = c;
      if (!rules_.longest) break;
      maximum = size;
    }
    return best;
  }

  Rules rules_;
  std::vector<Cluster> clusters_;
  LevelQueues host_{0};
};

}  // namespace raddle::policy
