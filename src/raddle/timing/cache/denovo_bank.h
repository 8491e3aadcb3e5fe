// The L2 side of DeNovo (denovo_l1.h): a bank's lines, of each word either its data or the L1 where
// it is registered, misses, and lines that are recalled. No clock and no wires, as there.
//
//   Read      of words that are here: one answer, with every word of the line that is here. Of
//             registered ones: a Forward to each owner. If some are in neither place, the line is
//             fetched first.
//   Register  the words are the sender's from now on; former owners get an Invalidate and
//             acknowledge them, the bank acknowledges the rest. A line that is absent gets a way
//             and is not fetched.
//   Own       the same with data: from the bank, or from the former owner, who gets a Take.
//   WriteBack words of which the sender still is the owner are here from now on; others are stale.
//
// A line with registered words that loses its way leaves it at once and is recalled: each owner
// gets a Recall, and the line goes to DRAM when the last has answered. Until then requests to it
// wait.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/stats/counters.h"
#include "raddle/timing/cache/host_traffic.h"
#include "raddle/timing/cache/way_shares.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

class DenovoBank {
 public:
  /// Why a request cannot be taken; nothing has changed then.
  enum class Wait : std::uint8_t {
    Nothing,
    Mshr,       ///< or a merge slot
    Way,        ///< every way of the set is being fetched
    Recall,     ///< of this line, or too many others are under way
    Dram,       ///< it would have to fetch
    WriteBack,  ///< it would have to push out a dirty line
  };
  /// What a request or data lead to, in order.
  struct Out {
    Message message;
    bool data = false;  ///< it carries data of the bank's
  };
  struct Fetch {
    std::uint32_t line = 0;
    std::uint16_t tag = 0, sm = 0;
    std::uint8_t kernel = 0;
    TenantId tenant{};
    std::uint8_t core_rank = 0;  ///< of the core that asks
  };
  /// A dirty line on its way to DRAM.
  struct Dirty {
    std::uint32_t line = 0;
    std::uint16_t sm = 0;
    std::uint8_t kernel = 0;
    TenantId tenant{};
  };
  struct Words {
    WordMask here = 0, registered = 0;
    bool present = false;
  };
  struct Shape {
    unsigned sets, ways, mshrs, merges;
  };

  /// `map` tells the set of a line and must outlive the bank.
  DenovoBank(const Shape& shape, const AddressMap& map);

  /// What there is room for.
  struct Free {
    bool fetch = true, write_back = true;
  };
  /// A request of an L1.
  Wait take(const Message& m, Free free, stats::L2Counters& count);
  /// The line of a Fetch has come.
  template <class CountOf>
  void filled(unsigned tag, CountOf count_of);
  /// A Recalled.
  void recalled(const Message& m);
  /// From now on lines of a tenant's misses take the ways that `shares` gives it; null: any way.
  /// They must outlive the bank.
  void share_ways(const WayShares* shares) { shares_ = shares; }

  /// An access of the host, while no request is under way.
  void host(const HostLine& access, HostEffects& effects);

  /// To be emptied by the owner after each call.
  std::vector<Out>& out() { return out_; }
  std::vector<Fetch>& fetches() { return fetches_; }
  std::vector<Dirty>& dirty() { return dirty_; }

  bool idle() const { return mshrs_used_ == 0 && recalls_used_ == 0; }
  unsigned fetching() const { return mshrs_used_; }
  unsigned recalling() const { return recalls_used_; }
  Words words(std::uint32_t line) const;
  /// Where a word is registered, that of a line that is being recalled included.
  std::optional<unsigned> owner(std::uint32_t line, unsigned word) const;

 private:
  static constexpr unsigned kAbsent = ~0u, kWords = 16;
  struct Line {
    std::uint32_t line = 0;
    WordMask here = 0, dirty = 0, registered = 0;
    bool present = false, fetching = false;
    std::uint64_t used = 0;
    std::array<std::uint16_t, kWords> owner{};
  };
  struct Mshr {
    std::uint32_t line = 0;
    bool used = false;
    std::vector<Message> waiting;
  };
  struct Recall {
    std::uint32_t line = 0;
    WordMask left = 0;  // words not yet given back
    bool used = false;
    std::uint16_t id = 0;  // tells answers to this recall from those to an earlier one of the line
    std::array<std::uint16_t, kWords> owner{};
    Dirty dirty;
  };

  unsigned host_way(std::uint32_t line, HostEffects& effects);
  void host_take(Line& line, WordMask words, HostEffects& effects);
  unsigned find(std::uint32_t line) const;
  unsigned victim(const Message& m) const;
  Wait evict_for(const Message& m, Free free, stats::L2Counters& count, unsigned& at);
  Wait miss(const Message& m, unsigned at, Free free, stats::L2Counters& count);
  void serve(const Message& m, unsigned at, unsigned dram_accesses, stats::L2Counters& count);
  void read(const Message& m, Line& line, unsigned dram_accesses, stats::L2Counters& count);
  void own(const Message& m, Line& line, unsigned dram_accesses, stats::L2Counters& count);
  void write_back(const Message& m, unsigned at);
  void give_back(Recall& recall, WordMask words);
  void answer(const Message& m, MessageKind kind, WordMask words, bool data,
              unsigned dram_accesses);
  template <class Notify>
  void each_owner(const Line& line, WordMask words, Notify notify);
  void inform(const Message& m, MessageKind kind, WordMask words, unsigned owner);

  Shape shape_;
  const AddressMap& map_;
  const WayShares* shares_ = nullptr;
  std::vector<Line> line_;
  std::vector<Mshr> mshr_;
  std::vector<Recall> recall_;
  std::vector<Out> out_;
  std::vector<Fetch> fetches_;
  std::vector<Dirty> dirty_;
  std::uint64_t uses_ = 0;
  std::uint16_t recall_id_ = 0;
  unsigned mshrs_used_ = 0, recalls_used_ = 0;
};

/// count_of(kernel) gives the counters of a launch.
template <class CountOf>
void DenovoBank::filled(unsigned tag, CountOf count_of) {
  Mshr& mshr = mshr_[tag];
  const unsigned at = find(mshr.line);
  Line& line = line_[at];
  line.here |= static_cast<WordMask>(~line.registered);
  line.fetching = false;
  line.used = ++uses_;
  mshr.used = false;
  --mshrs_used_;
  unsigned dram_accesses = 1;  // of the first, who has caused it
  for (const Message& m : mshr.waiting) {
    serve(m, at, dram_accesses, count_of(m.kernel));
    dram_accesses = 0;
  }
}

}  // namespace raddle::timing
