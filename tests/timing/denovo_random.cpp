// DeNovo under random programs without races, over a network that delivers in any order: every load
// and atomic must see what a memory without caches would give.
//
// A program is a row of kernels. In a kernel each word is read by everybody, or belongs to one warp
// of one SM, which reads and writes it, or is a counter that all add to. A kernel ends when every
// warp's operations are done; what else is under way stays so. Data travel beside the messages.
// An SM acquires when it begins with a kernel, which is not when others do.
// In racy programs everybody does everything with the words, and all that is asked is that nothing
// breaks or hangs. With ro_regions what has been written is gathered every few steps, as by the
// Gpu.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/denovo_bank.h"
#include "raddle/timing/cache/denovo_l1.h"
#include "support/memory_mocks.h"

namespace raddle::test::denovo_random_test {
namespace {

using namespace timing;
using stats::ServedFrom;

constexpr unsigned kWords = 16, kWarps = 8;
using LineData = std::array<std::uint64_t, kWords>;

enum class Mode : std::uint8_t { Plain, Races, RoRegions };

struct Shape {
  unsigned sms = 4, banks = 2, lines = 24;
  unsigned l1_kib = 1, l1_ways = 2, l1_mshrs = 4, merges = 3, store_buffer = 3;
  unsigned l2_sets = 2, l2_ways = 8, l2_mshrs = 2, l2_merges = 2;
};

class Tester {
 public:
  Tester(const Shape& shape, std::uint64_t seed, Mode mode = Mode::Plain)
      : shape_(shape),
        races_(mode == Mode::Races),
        ro_regions_(mode == Mode::RoRegions),
        machine_(machine(shape)),
        map_(machine_),
        rng_(seed) {
    for (unsigned i = 0; i < shape.sms; ++i) {
      l1_.push_back(std::make_unique<DenovoL1>(machine_.sm.l1d, i, shape.sms, shape.banks));
      if (ro_regions_) l1_.back()->keep_unwritten(writes_);
      l1_data_.emplace_back();
      warp_.emplace_back(kWarps);
    }
    const DenovoBank::Shape bank{shape.l2_sets, shape.l2_ways, shape.l2_mshrs, shape.l2_merges};
    for (unsigned i = 0; i < shape.banks; ++i) {
      bank_.push_back(std::make_unique<DenovoBank>(bank, map_));
      requests_.emplace_back();
    }
    must_acquire_.assign(shape.sms, false);
    const std::uint32_t lines = line_at(shape.lines - 1) + 1;
    for (auto& data : l1_data_) data.resize(lines);
    golden_.resize(lines);
    memory_.resize(lines);
    l2_.resize(lines);
    l2_has_.resize(lines);
    role_.resize(lines);
  }

  /// Runs kernels until so many operations are done.
  void run(std::uint64_t operations) {
    while (done_ < operations && !::testing::Test::HasFailure()) {
      deal_roles();
      std::uint64_t left = 20 + below(200);
      std::uint64_t idle = 0;
      while (left != 0 || busy()) {
        const std::uint64_t before = progress_;
        step(left);
        idle = progress_ == before ? idle + 1 : 0;
        ASSERT_LT(idle, 100000u) << "nothing moves any more";
        if (::testing::Test::HasFailure()) return;
      }
      gather();  // a kernel begins several windows after the end of the last
      must_acquire_.assign(shape_.sms, true);
    }
    for (std::uint64_t i = 0; !drained() && i < 1000000; ++i) {
      std::uint64_t none = 0;
      step(none);
    }
    EXPECT_TRUE(drained()) << "something is left under way";
  }

  const std::map<std::string, std::uint64_t>& seen() const { return seen_; }
  std::uint64_t kept() const {
    std::uint64_t n = 0;
    for (const auto& l1 : l1_) n += l1->kept();
    return n;
  }

 private:
  /// Who may do what with a word in this kernel.
  struct Role {
    enum Kind : std::uint8_t { Shared, Mine, Counter } kind = Shared;
    unsigned sm = 0, warp = 0;
  };
  struct Packet {
    Message message;
    LineData data{};
    bool from_bank = false;
  };
  struct Operation {
    bool under_way = false, atomic = false, store = false;
    std::uint32_t line = 0;
    WordMask need = 0;
  };

  static MachineSpec machine(const Shape& s) {
    MachineSpec m = small_machine();
    m.sm.count = s.sms;
    m.sm.l1d.size_kib = s.l1_kib;
    m.sm.l1d.ways = s.l1_ways;
    m.sm.l1d.line_bytes = m.sm.l1d.sector_bytes = 64;
    m.sm.l1d.mshr_entries = s.l1_mshrs;
    m.sm.l1d.mshr_merges = s.merges;
    m.sm.l1d.store_buffer = s.store_buffer;
    m.l2.line_bytes = m.l2.sector_bytes = 64;
    m.dram.channels = 1;
    m.l2.slices = s.banks;
    m.l2.ways = s.l2_ways;
    m.l2.size_kib = s.l2_sets * s.l2_ways * 64 / 1024;
    return m;
  }

  std::uint64_t below(std::uint64_t n) { return rng_.next() % n; }
  bool chance(unsigned one_in) { return below(one_in) == 0; }

  /// The i-th line in use: with ro_regions, three of each region.
  std::uint32_t line_at(std::uint32_t i) const {
    return ro_regions_ ? i / 3 * (RegionWrites::kBytes / 64) + i % 3 : i;
  }
  /// With ro_regions half of the regions are only read.
  void deal_roles() {
    bool only_read = false;
    for (std::uint32_t i = 0; i < shape_.lines; ++i) {
      if (ro_regions_ && i % 3 == 0) only_read = chance(2);
      const bool counters = chance(6);
      for (Role& r : role_[line_at(i)]) {
        r.kind = counters && chance(2) ? Role::Counter : chance(3) ? Role::Shared : Role::Mine;
        r.sm = static_cast<unsigned>(below(shape_.sms));
        r.warp = static_cast<unsigned>(below(kWarps));
        if (only_read) r.kind = Role::Shared;
      }
    }
  }
  bool busy() const {
    for (const auto& sm : warp_)
      for (const Operation& o : sm)
        if (o.under_way) return true;
    return false;
  }
  bool drained() const {
    for (const auto& l1 : l1_)
      if (!l1->idle()) return false;
    for (const auto& bank : bank_)
      if (!bank->idle()) return false;
    for (const auto& r : requests_)
      if (!r.empty()) return false;
    return flying_.empty() && fetching_.empty();
  }

  void gather() {
    if (ro_regions_)
      for (auto& l1 : l1_) writes_.gather(l1->written(), kWindow);
  }
  /// One thing happens, somewhere.
  void step(std::uint64_t& left) {
    if (++now_ % kWindow == 0) gather();
    switch (below(8)) {
      case 0:
      case 1:
        if (left != 0 && issue()) --left;
        return;
      case 2:
      case 3:
      case 4:
        return deliver();
      case 5:
        return serve_bank(static_cast<unsigned>(below(shape_.banks)));
      case 6:
        return fetch();
      default:
        drain(static_cast<unsigned>(below(shape_.sms)));
    }
  }

  // --- operations of warps -----------------------------------------------------------------------
  bool issue() {
    const auto sm = static_cast<unsigned>(below(shape_.sms)),
               w = static_cast<unsigned>(below(kWarps));
    Operation& op = warp_[sm][w];
    if (op.under_way) return false;
    if (must_acquire_[sm]) l1_[sm]->acquire(now_);
    must_acquire_[sm] = false;
    const std::uint32_t line = line_at(static_cast<std::uint32_t>(below(shape_.lines)));
    WordMask shared = 0, mine = 0, counters = 0;
    for (unsigned i = 0; i < kWords; ++i) {
      const Role& r = role_[line][i];
      const auto bit = static_cast<WordMask>(1u << i);
      if (r.kind == Role::Shared) shared |= bit;
      else if (r.kind == Role::Counter) counters |= bit;
      else if (r.sm == sm && r.warp == w) mine |= bit;
    }
    const auto pick = static_cast<WordMask>(rng_.next());
    if (races_) shared = mine = counters = 0xffff;
    if (counters != 0 && chance(3)) return atomic(sm, w, line, counters & pick);
    if (mine != 0 && chance(2)) return store(sm, w, line, mine & pick);
    return load(sm, w, line, (shared | mine) & pick);
  }
  bool room(unsigned sm) const { return l1_[sm]->write_backs().empty(); }

  bool load(unsigned sm, unsigned w, std::uint32_t line, WordMask words) {
    if (words == 0) return false;
    const DenovoL1::Words before = l1_[sm]->words(line);
    const auto a =
        l1_[sm]->load(now_, {line, words, 0, static_cast<std::uint16_t>(w), 0}, false, room(sm));
    if (refused(a)) return false;
    ++seen_[a.outcome == DenovoL1::Outcome::Hit ? "load hit"
            : a.asked                           ? "load miss"
                                                : "load waits"];
    const auto have = static_cast<WordMask>(words & (before.valid | before.registered));
    check(sm, line, have, l1_data_[sm][line], "a load's hit");
    begin(sm, w,
          {a.outcome == DenovoL1::Outcome::Miss, false, false, line,
           static_cast<WordMask>(words & ~have)});
    collect(sm);
    return true;
  }
  bool store(unsigned sm, unsigned w, std::uint32_t line, WordMask words) {
    if (words == 0) return false;
    const DenovoL1::Words before = l1_[sm]->words(line);
    const auto a =
        l1_[sm]->store(now_, {line, words, 0, static_cast<std::uint16_t>(w), 0}, room(sm));
    if (refused(a)) return false;
    if ((words & before.valid) != 0) ++seen_["store to Valid"];
    if ((words & before.registered) != 0) ++seen_["store to Registered"];
    if ((words & ~(before.valid | before.registered)) != 0) ++seen_["store to Invalid"];
    if (a.outcome == DenovoL1::Outcome::Miss && !a.asked) ++seen_["store combined"];
    each(words, [&](unsigned i) { l1_data_[sm][line][i] = ++golden_[line][i]; });
    begin(sm, w, {a.outcome == DenovoL1::Outcome::Miss, false, true, line, 0});
    collect(sm);
    return true;
  }
  bool atomic(unsigned sm, unsigned w, std::uint32_t line, WordMask words) {
    if (words == 0) return false;
    const DenovoL1::Words before = l1_[sm]->words(line);
    const auto a =
        l1_[sm]->atomic(now_, {line, words, 0, static_cast<std::uint16_t>(w), 0}, room(sm));
    if (refused(a)) return false;
    ++seen_[a.outcome == DenovoL1::Outcome::Hit ? "atomic hit"
            : a.asked                           ? "atomic miss"
                                                : "atomic waits"];
    if ((words & before.valid) != 0) ++seen_["atomic on Valid"];
    const auto have = static_cast<WordMask>(words & before.registered);
    perform(sm, line, have);
    begin(sm, w,
          {a.outcome == DenovoL1::Outcome::Miss, true, false, line,
           static_cast<WordMask>(words & ~have)});
    collect(sm);
    return true;
  }
  bool refused(const DenovoL1::Answer& a) {
    if (a.outcome != DenovoL1::Outcome::Blocked) return false;
    ++seen_["refused: " + std::string(stats::kRefusalNames[static_cast<unsigned>(a.why)])];
    return true;
  }
  void begin(unsigned sm, unsigned w, const Operation& op) {
    ++done_;
    ++progress_;
    warp_[sm][w] = op;
  }
  /// Adds one to counters whose words are registered here.
  void perform(unsigned sm, std::uint32_t line, WordMask words) {
    check(sm, line, words, l1_data_[sm][line], "an atomic");
    each(words, [&](unsigned i) { l1_data_[sm][line][i] = ++golden_[line][i]; });
  }
  void check(unsigned sm, std::uint32_t line, WordMask words, const LineData& data,
             const char* who) {
    if (races_) return;
    each(words, [&](unsigned i) {
      ASSERT_EQ(data[i], golden_[line][i]) << who << " in SM " << sm << ", line " << line
                                           << ", word " << i << " after " << done_ << " operations";
    });
  }
  template <class F>
  static void each(WordMask words, F f) {
    for (unsigned rest = words; rest != 0; rest &= rest - 1) f(lowest(rest));
  }

  // --- the network -------------------------------------------------------------------------------
  /// What an L1 has to say goes on its way, with its data as they are now.
  void collect(unsigned sm) {
    DenovoL1& l1 = *l1_[sm];
    for (auto& out = l1.requests(); !out.empty(); out.pop()) fly(out.front(), {});
    // Data of a write-back are those of the moment it loses its way: nobody changes them later.
    for (auto& out = l1.write_backs(); !out.empty(); out.pop()) {
      written_back_[{sm, out.front().line}] = l1_data_[sm][out.front().line];
      fly(out.front(), l1_data_[sm][out.front().line]);
    }
    for (auto& out = l1.responses(); !out.empty(); out.pop()) {
      const Message& m = out.front();
      LineData data = l1_data_[sm][m.line];
      each(static_cast<WordMask>(m.words & ~had_), [&](unsigned i) {
        data[i] = written_back_[{sm, m.line}][i];
      });
      fly(m, data);
    }
  }
  void fly(const Message& m, const LineData& data, bool from_bank = false) {
    flying_.push_back({m, data, from_bank});
  }
  void drain(unsigned sm) {
    if (!l1_[sm]->any_registration()) return;
    l1_[sm]->send_registration();
    ++progress_;
    collect(sm);
  }
  bool same_ends(const Packet& a, const Packet& b) const {
    const auto to = [](const Message& m) {
      return m.kind == MessageKind::WroteBack ? m.sm : m.peer;
    };
    return in_order_from_bank(a.message.kind) && in_order_from_bank(b.message.kind) &&
           map_.slice(a.message.line) == map_.slice(b.message.line) &&
           to(a.message) == to(b.message);
  }
  void deliver() {
    if (flying_.empty()) return;
    ++progress_;
    auto at = static_cast<std::size_t>(below(flying_.size()));
    // Of what a bank tells an L1 the oldest comes first.
    if (in_order_from_bank(flying_[at].message.kind))
      at = static_cast<std::size_t>(
          std::find_if(flying_.begin(), flying_.end(),
                       [&](const Packet& p) { return same_ends(p, flying_[at]); }) -
          flying_.begin());
    const Packet packet = flying_[at];
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(at));
    const Message& message = packet.message;
    switch (message.kind) {
      case MessageKind::Recalled:
        return recalled(packet);
      case MessageKind::Read:
      case MessageKind::Own:
        if (!packet.from_bank) break;
        return to_l1(message.sm, packet);
      case MessageKind::Register:
      case MessageKind::WriteBack:
        break;
      case MessageKind::Forward:
      case MessageKind::Take:
      case MessageKind::Invalidate:
      case MessageKind::Recall:
        return to_l1(message.peer, packet);
      default:
        return to_l1(message.sm, packet);
    }
    requests_[map_.slice(message.line)].push_back(packet);
  }

  struct Sink {
    Tester& t;
    unsigned sm;
    std::uint32_t line;
    void completed(std::uint16_t w, ServedFrom from) {
      ++t.seen_["served from " + std::string(stats::kServedFromNames[static_cast<unsigned>(from)])];
      Operation& op = t.warp_[sm][w];
      EXPECT_TRUE(op.under_way && !op.store && op.line == line && op.need == 0);
      op.under_way = false;
    }
    void acknowledged(unsigned w) {
      Operation& op = t.warp_[sm][w];
      EXPECT_TRUE(op.under_way && op.store);
      op.under_way = false;
    }
    void answered(MessageKind) {}
  };
  void to_l1(unsigned sm, const Packet& p) {
    const Message& m = p.message;
    DenovoL1& l1 = *l1_[sm];
    const DenovoL1::Words before = l1.words(m.line);
    note_transition(m, before);
    LineData& data = l1_data_[sm][m.line];
    const bool owned = m.kind == MessageKind::Owned;
    const bool carries = owned || m.kind == MessageKind::Read || m.kind == MessageKind::Remote;
    if (owned) each(m.words, [&](unsigned i) { data[i] = p.data[i]; });
    // Operations that wait for these words, before those that others asked of us.
    if (carries)
      for (Operation& op : warp_[sm]) {
        if (!op.under_way || op.store || op.line != m.line || (op.atomic && !owned)) continue;
        const auto come = static_cast<WordMask>(op.need & m.words);
        if (op.atomic) perform(sm, m.line, come);
        else check(sm, m.line, come, owned ? data : p.data, "a load's data");
        op.need = static_cast<WordMask>(op.need & ~come);
      }
    had_ = static_cast<WordMask>(before.registered | before.owning);
    l1.receive(now_, m, Sink{*this, sm, m.line});
    if (carries && !owned) {
      const DenovoL1::Words after = l1.words(m.line);
      each(static_cast<WordMask>(m.words & after.valid & ~after.registered),
           [&](unsigned i) { data[i] = p.data[i]; });
    }
    collect(sm);
    had_ = 0;
  }
  void note_transition(const Message& m, const DenovoL1::Words& w) {
    static const std::map<MessageKind, std::string> names = {
        {MessageKind::Read, "Read answer"},   {MessageKind::Remote, "Remote"},
        {MessageKind::Owned, "Owned"},        {MessageKind::Registered, "Registered"},
        {MessageKind::Forward, "Forward"},    {MessageKind::Take, "Take"},
        {MessageKind::Recall, "Recall"},      {MessageKind::Invalidate, "Invalidate"},
        {MessageKind::WroteBack, "WroteBack"}};
    const std::string name = names.at(m.kind);
    if (m.kind == MessageKind::WroteBack) return void(++seen_[name]);
    each(m.words, [&](unsigned i) {
      const unsigned bit = 1u << i;
      ++seen_[name + ((w.owning & bit) != 0       ? " on owning"
                      : (w.registered & bit) != 0 ? " on Registered"
                      : (w.valid & bit) != 0      ? " on Valid"
                                                  : " on Invalid")];
    });
  }

  // --- banks and memory --------------------------------------------------------------------------
  void serve_bank(unsigned b) {
    auto& queue = requests_[b];
    if (queue.empty()) return;
    // Requests of different L1s arrive in any order; a blocked one holds up the others.
    const Packet p = queue.front();
    const Message& m = p.message;
    WordMask taken = 0;
    if (m.kind == MessageKind::WriteBack)
      each(m.words, [&](unsigned i) {
        if (bank_[b]->owner(m.line, i) == m.sm) taken |= static_cast<WordMask>(1u << i);
      });
    const auto wait = bank_[b]->take(m, {!chance(4), !chance(4)}, l2_count_);
    if (wait != DenovoBank::Wait::Nothing) {
      EXPECT_TRUE(bank_[b]->out().empty() && bank_[b]->fetches().empty() &&
                  bank_[b]->dirty().empty());
      ++seen_["bank waits " + std::to_string(static_cast<unsigned>(wait))];
      return;
    }
    ++progress_;
    queue.erase(queue.begin());
    accept(m.line, taken, p.data);
    if (m.kind == MessageKind::Register || m.kind == MessageKind::Own) {
      if (bank_[b]->words(m.line).registered != 0)
        l2_has_[m.line] &= static_cast<WordMask>(~bank_[b]->words(m.line).registered);
    }
    carry_out(b);
  }
  /// The bank takes over these words.
  void accept(std::uint32_t line, WordMask words, const LineData& data) {
    each(words, [&](unsigned i) { l2_[line][i] = data[i]; });
    l2_has_[line] |= words;
  }
  void recalled(const Packet& p) {
    const Message& m = p.message;
    const unsigned b = map_.slice(m.line);
    WordMask taken = 0;
    each(m.words, [&](unsigned i) {
      if (!bank_[b]->words(m.line).present && bank_[b]->owner(m.line, i) == m.peer)
        taken |= static_cast<WordMask>(1u << i);
    });
    accept(m.line, taken, p.data);
    bank_[b]->recalled(m);
    carry_out(b);
  }
  void carry_out(unsigned b) {
    DenovoBank& bank = *bank_[b];
    for (const auto& out : bank.out()) {
      fly(out.message, l2_[out.message.line], true);
    }
    bank.out().clear();
    for (const auto& d : bank.dirty()) {
      each(l2_has_[d.line], [&](unsigned i) { memory_[d.line][i] = l2_[d.line][i]; });
      l2_has_[d.line] = 0;
    }
    bank.dirty().clear();
    for (const auto& f : bank.fetches()) fetching_.push_back({b, f});
    bank.fetches().clear();
  }
  void fetch() {
    if (fetching_.empty()) return;
    ++progress_;
    const auto at = static_cast<std::size_t>(below(fetching_.size()));
    const auto [b, f] = fetching_[at];
    fetching_.erase(fetching_.begin() + static_cast<std::ptrdiff_t>(at));
    const DenovoBank::Words w = bank_[b]->words(f.line);
    const auto come = static_cast<WordMask>(~(w.here | w.registered));
    accept(f.line, come, memory_[f.line]);
    bank_[b]->filled(f.tag, [&](unsigned) -> stats::L2Counters& { return l2_count_; });
    l2_has_[f.line] &= static_cast<WordMask>(~bank_[b]->words(f.line).registered);
    carry_out(b);
  }

  static constexpr Cycle kWindow = 8;

  Shape shape_;
  bool races_, ro_regions_;
  MachineSpec machine_;
  AddressMap map_;
  Rng rng_;
  RegionWrites writes_;
  Cycle now_ = 0;
  std::vector<std::unique_ptr<DenovoL1>> l1_;
  std::vector<bool> must_acquire_;
  std::vector<std::unique_ptr<DenovoBank>> bank_;
  std::vector<std::vector<LineData>> l1_data_;  // what a word of an L1 is, if it has the word
  std::vector<LineData> golden_, memory_, l2_;
  std::vector<WordMask> l2_has_;
  std::vector<std::array<Role, kWords>> role_;
  std::vector<std::vector<Operation>> warp_;
  std::map<std::pair<unsigned, std::uint32_t>, LineData> written_back_;
  std::vector<Packet> flying_;
  std::vector<std::vector<Packet>> requests_;  // by bank, those that have arrived
  std::vector<std::pair<unsigned, DenovoBank::Fetch>> fetching_;
  WordMask had_ = 0;  // words the L1 that is spoken to had before
  stats::L2Counters l2_count_;
  std::map<std::string, std::uint64_t> seen_;
  std::uint64_t done_ = 0, progress_ = 0;
};

/// Every pair of a message and a state that the protocol allows (docs/coherence.md), and every
/// reason to wait, must have been met, or the programs are too tame to show anything.
const std::map<std::string, std::vector<std::string>> kMustBeSeen = {
    {"load ", {"hit", "miss", "waits"}},
    {"store to ", {"Invalid", "Valid", "Registered"}},
    {"store ", {"combined"}},
    {"atomic ", {"hit", "miss", "waits"}},
    {"atomic on ", {"Valid"}},
    {"Read answer on ", {"Invalid", "Valid", "Registered", "owning"}},
    {"Remote on ", {"Invalid"}},
    {"Owned on ", {"owning"}},
    {"Registered on ", {"Registered"}},
    {"Forward on ", {"Registered", "Invalid"}},
    {"Take on ", {"Registered", "Invalid", "owning"}},
    {"Recall on ", {"Registered", "Invalid"}},
    {"Invalidate on ", {"Registered", "Invalid"}},
    {"", {"WroteBack"}},
    {"refused: ", {"mshr", "merge", "way", "store_buffer", "write_back"}},
    {"served from ", {"remote_l1", "l2", "memory"}},
    {"bank waits ", {"1", "3", "4", "5"}},
};

TEST(DenovoRandom, EveryLoadOfAMillionOperationsSeesWhatMemoryWould) {
  std::map<std::string, std::uint64_t> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Shape shape;
    shape.sms = 2 + static_cast<unsigned>(seed % 5);
    shape.lines = seed % 3 == 0 ? 8 : 40;
    Tester tester(shape, seed);
    tester.run(50000);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    for (const auto& [what, n] : tester.seen()) seen[what] += n;
  }
  for (const auto& [what, how] : kMustBeSeen)
    for (const std::string& in : how) EXPECT_GT(seen[what + in], 0u) << what << in;
}

TEST(DenovoRandom, WordsThatOutliveAnAcquireAreThoseThatNobodyHasWritten) {
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Shape shape;
    shape.sms = 2 + static_cast<unsigned>(seed % 5);
    shape.lines = seed % 3 == 0 ? 9 : 24;
    Tester tester(shape, seed, Mode::RoRegions);
    tester.run(50000);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    kept += tester.kept();
  }
  EXPECT_GT(kept, 100000u);
}

TEST(DenovoRandom, RacesBreakNothing) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Shape shape;
    shape.sms = 3;
    shape.lines = seed % 2 == 0 ? 2 : 24;
    Tester tester(shape, seed, Mode::Races);
    tester.run(30000);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace raddle::test::denovo_random_test
