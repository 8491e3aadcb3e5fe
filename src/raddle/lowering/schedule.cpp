#include "raddle/lowering/schedule.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "raddle/base/error.h"
#include "raddle/lowering/liveness.h"
#include "raddle/lowering/regions.h"
#include "raddle/trace/stream.h"

namespace raddle::lowering {

namespace {

using trace::Operand;
using trace::OpKind;
using trace::StaticInst;
using u32 = std::uint32_t;
using Kind = Operand::Kind;

bool is_load(OpKind k) {
  return k == OpKind::LoadGlobal || k == OpKind::LoadLocal || k == OpKind::LoadShared;
}
bool is_store(OpKind k) {
  return k == OpKind::StoreGlobal || k == OpKind::StoreLocal || k == OpKind::StoreShared;
}
/// Ordered against every access to memory.
bool is_ordered(const StaticInst& in) {
  if (in.acquires || in.releases) return true;
  return !is_load(in.kind) && !is_store(in.kind) && in.kind != OpKind::Alu &&
         in.kind != OpKind::LoadConst;
}
bool is_guarded(const StaticInst& in) {
  return std::ranges::any_of(in.operands, [](const Operand& o) { return o.kind == Kind::Guard; });
}
const Operand* address_of(const StaticInst& in) {
  for (const Operand& o : in.operands)
    if (o.kind == Kind::Address) return &o;
  return nullptr;
}
enum class Space : std::uint8_t { Global, Local, Shared };
Space space_of(OpKind k) {
  if (k == OpKind::LoadShared || k == OpKind::StoreShared) return Space::Shared;
  return k == OpKind::LoadLocal || k == OpKind::StoreLocal ? Space::Local : Space::Global;
}
unsigned words_of(const StaticInst& in) { return std::max(1u, in.bytes / 4u); }

/// One basic block, [begin, end) of the original.
class Block {
 public:
  /// `delays`: nothing where results are taken to be there at once.
  Block(const trace::KernelCode& code, const std::vector<bool>& aliased,
        const std::optional<Delays>& delays, u32 begin, u32 end)
      : code_(code), aliased_(aliased), delays_(delays), begin_(begin), size_(end - begin) {
    if (delays_) latencies_.emplace(size_);
    after_.resize(size_);
    waits_for_.resize(size_);
    find_dependences();
    find_wanted();
  }

  /// Numbers of the original, in their new order.
  std::vector<u32> order() {
    std::set<u32> ready;
    for (u32 i = 0; i < size_; ++i)
      if (waits_for_[i] == 0) ready.insert(i);
    std::vector<u32> out;
    while (!ready.empty()) {
      const u32 next = choose(ready);
      ready.erase(next);
      out.push_back(begin_ + next);
      account(next);
      if (latencies_) latencies_->issued(next);
      for (const u32 then : after_[next])
        if (--waits_for_[then] == 0) ready.insert(then);
    }
    RADDLE_ASSERT(out.size() == size_);
    return out;
  }

 private:
  const StaticInst& at(u32 i) const { return code_.instructions[begin_ + i]; }

  void add_edge(u32 from, u32 to) {
    if (from == to || (!after_[from].empty() && after_[from].back() == to)) return;
    after_[from].push_back(to);
    ++waits_for_[to];
  }

  void find_dependences() {
    std::map<u32, std::vector<u32>> readers;  // since the last write
    std::map<u32, u32> writer;
    std::vector<u32> memory;
    std::optional<u32> ordered;
    for (u32 i = 0; i < size_; ++i) {
      for (const Operand& o : at(i).operands) {
        if (o.reg == trace::kNoRegister) continue;
        const auto last = writer.find(o.reg);
        if (last != writer.end()) {
          add_edge(last->second, i);
          if (latencies_ && o.kind != Kind::Write) add_reader(last->second, i, o.reg);
        }
        if (o.kind != Kind::Write) continue;
        for (const u32 reader : readers[o.reg]) add_edge(reader, i);
      }
      order_memory(i, memory, ordered);
      for (const Operand& o : at(i).operands)
        if (o.reg != trace::kNoRegister && o.kind != Kind::Write) readers[o.reg].push_back(i);
      for (const Operand& o : at(i).operands) {
        if (o.reg == trace::kNoRegister || o.kind != Kind::Write) continue;
        writer[o.reg] = i;
        readers[o.reg].clear();
        ++version_[o.reg];
      }
      if ((i + 1 == size_ && at(i).jumps) || at(i).kind == OpKind::Exit)
        for (u32 j = 0; j < i; ++j) add_edge(j, i);
    }
  }

  /// Loads go first as far as there is room for what they load, so their readers do not count.
  void add_reader(u32 writer, u32 reader, u32 reg) {
    const bool is_alu = at(writer).kind == OpKind::Alu;
    latencies_->add_reader(writer, reader,
                           is_alu ? (*delays_)[static_cast<unsigned>(at(writer).op_class)] : 0);
    if (code_.register_bytes[reg] == 0) latencies_->sets_predicate(writer);
  }

  void order_memory(u32 i, std::vector<u32>& memory, std::optional<u32>& ordered) {
    const StaticInst& in = at(i);
    if (in.kind == OpKind::Alu || in.kind == OpKind::LoadConst) return;
    bases_.resize(size_);
    if (const Operand* address = address_of(in))
      bases_[i] = {address->reg, address->reg == trace::kNoRegister ? 0 : version_[address->reg],
                   address->value};
    if (ordered) add_edge(*ordered, i);
    for (const u32 j : memory)
      if (is_ordered(in) || conflict(j, i)) add_edge(j, i);
    if (is_ordered(in)) {
      ordered = i;
      memory.clear();
    } else {
      memory.push_back(i);
    }
  }

  /// May two accesses, loads or stores, not change places?
  bool conflict(u32 j, u32 i) const {
    const StaticInst &one = at(j), &two = at(i);
    if (one.bypass_l1 && two.bypass_l1) return true;
    if (is_load(one.kind) && is_load(two.kind)) return false;
    if (aliased_[begin_ + j] || aliased_[begin_ + i]) return true;
    if (space_of(one.kind) != space_of(two.kind)) return false;
    const auto &a = bases_[j], &b = bases_[i];
    if (a.reg != b.reg || a.version != b.version || a.reg == trace::kNoRegister) return true;
    return a.offset < b.offset + two.bytes && b.offset < a.offset + one.bytes;
  }

  /// Loads, and what their addresses need.
  void find_wanted() {
    wanted_.resize(size_);
    users_.resize(size_);
    std::map<u32, u32> writer;
    std::vector<std::vector<u32>> sources(size_);
    for (u32 i = 0; i < size_; ++i) {
      for (const Operand& o : at(i).operands)
        if (o.reg != trace::kNoRegister && o.kind != Kind::Write)
          if (const auto found = writer.find(o.reg); found != writer.end())
            sources[i].push_back(found->second);
      for (const u32 from : sources[i])
        if (is_load(at(from).kind)) users_[from].push_back(i);
      for (const Operand& o : at(i).operands)
        if (o.reg != trace::kNoRegister && o.kind == Kind::Write) writer[o.reg] = i;
    }
    for (u32 i = size_; i-- > 0;) {
      if (is_load(at(i).kind)) wanted_[i] = true;
      if (!wanted_[i]) continue;
      for (const u32 from : sources[i])
        if (at(from).kind == OpKind::Alu) wanted_[from] = true;
    }
    used_.resize(size_);
    for (u32 i = 0; i < size_; ++i) used_[i] = static_cast<u32>(users_[i].size());
    is_issued_.resize(size_);
  }

  /// The first that is wanted if there is room for what it loads, else the first of all.
  u32 choose(const std::set<u32>& ready) const {
    for (const u32 i : ready)
      if (wanted_[i] && has_room(i)) return i;
    const auto is_other = [&](u32 i) { return !is_load(at(i).kind); };
    if (latencies_) {
      std::vector<u32> others;
      std::ranges::copy_if(ready, std::back_inserter(others), is_other);
      return latencies_->choose(others).value_or(*ready.begin());
    }
    const auto first = std::ranges::find_if(ready, is_other);
    return first == ready.end() ? *ready.begin() : *first;
  }
  bool has_room(u32 i) const {
    if (!is_load(at(i).kind)) return true;
    const bool shared = space_of(at(i).kind) == Space::Shared;
    return waiting_[shared] + words_of(at(i)) <= (shared ? kSharedWordsAhead : kGlobalWordsAhead);
  }

  /// Words wait from the load to its last user in the block.
  void account(u32 i) {
    is_issued_[i] = true;
    if (is_load(at(i).kind) && used_[i] != 0)
      waiting_[space_of(at(i).kind) == Space::Shared] += words_of(at(i));
    for (u32 load = 0; load < size_; ++load) {
      if (!is_issued_[load] || users_[load].empty()) continue;
      for (const u32 user : users_[load])
        if (user == i && --used_[load] == 0)
          waiting_[space_of(at(load).kind) == Space::Shared] -= words_of(at(load));
    }
  }

  struct Base {
    u32 reg = trace::kNoRegister, version = 0;
    std::int64_t offset = 0;
  };
  const trace::KernelCode& code_;
  const std::vector<bool>& aliased_;
  const std::optional<Delays>& delays_;
  u32 begin_, size_;
  std::optional<LatencyOrder> latencies_;
  std::vector<std::vector<u32>> after_, users_;
  std::vector<u32> waits_for_, used_;
  std::vector<bool> wanted_, is_issued_;
  std::vector<Base> bases_;
  std::map<u32, u32> version_;
  unsigned waiting_[2] = {};  // words, of shared memory: [1]
};

// --- joined loads --------------------------------------------------------------------------------

/// Leader of each instruction that becomes part of another; itself for all others.
class Joiner {
 public:
  Joiner(const trace::KernelCode& code, const std::vector<u32>& block)
      : code_(code), block_(block), leader_(code.instructions.size()) {
    for (u32 i = 0; i < leader_.size(); ++i) leader_[i] = i;
  }

  /// Four loads of consecutive words of shared memory at a constant place, aligned to 16 bytes, in
  /// one block and with nothing between that may change them; else two, aligned to 8.
  const std::vector<u32>& run(const std::vector<bool>& aliased) {
    for (u32 begin = 0, end; begin < block_.size(); begin = end) {
      for (end = begin; end < block_.size() && block_[end] == block_[begin];) ++end;
      std::map<std::int64_t, u32> here;
      bool ambiguous = false;
      auto flush = [&] {
        if (!ambiguous) join(here);
        here.clear();
        ambiguous = false;
      };
      for (u32 i = begin; i < end; ++i) {
        const StaticInst& in = code_.instructions[i];
        if (can_join(in, aliased[i])) {
          ambiguous = ambiguous || !here.emplace(address_of(in)->value, i).second;
        } else if (in.kind == OpKind::StoreShared || is_ordered(in) || aliased[i]) {
          flush();
        }
      }
      flush();
    }
    return leader_;
  }

 private:
  static bool can_join(const StaticInst& in, bool aliased) {
    if (in.kind != OpKind::LoadShared || in.bytes != 4 || in.bypass_l1 || aliased) return false;
    const Operand* address = address_of(in);
    return address != nullptr && address->reg == trace::kNoRegister && !is_guarded(in);
  }

  void join(const std::map<std::int64_t, u32>& loads) {
    for (const std::int64_t words : {4, 2})
      for (const auto& [offset, first] : loads) {
        if (offset % (4 * words) != 0 || leader_[first] != first) continue;
        std::vector<u32> all;
        for (std::int64_t w = 0; w < words; ++w)
          if (const auto found = loads.find(offset + 4 * w);
              found != loads.end() && !is_taken(found->second))
            all.push_back(found->second);
        if (static_cast<std::int64_t>(all.size()) != words) continue;
        const u32 lead = *std::ranges::min_element(all);
        for (const u32 i : all) {
          leader_[i] = lead;
          taken_.insert(i);
        }
      }
  }
  bool is_taken(u32 i) const { return taken_.contains(i); }

  const trace::KernelCode& code_;
  const std::vector<u32>& block_;
  std::vector<u32> leader_;
  std::set<u32> taken_;
};

/// The leader with the destinations of all, in the order of their addresses.
StaticInst joined(const trace::KernelCode& code, const std::vector<u32>& all) {
  std::map<std::int64_t, u32> by_address;
  for (const u32 i : all) by_address[address_of(code.instructions[i])->value] = i;
  StaticInst out = code.instructions[*std::ranges::min_element(all)];
  const Operand address{Kind::Address, trace::kNoRegister, by_address.begin()->first};
  out.operands.clear();
  for (const auto& [offset, i] : by_address)
    for (const Operand& o : code.instructions[i].operands)
      if (o.kind == Kind::Write) out.operands.push_back(o);
  out.operands.push_back(address);
  out.bytes = static_cast<std::uint8_t>(4 * all.size());
  return out;
}

// --- branches that become predicates -------------------------------------------------------------

/// Blocks that are one when such branches are gone, and the code without control flow in them.
class Predication {
 public:
  Predication(const trace::KernelCode& code, const LoweringSpec& spec)
      : code(code),
        block(basic_blocks(code)),
        dropped(code.instructions.size()),
        meeting(code.instructions.size(), trace::kNoRegister) {
    const Plan plan(this->code, spec.generation, spec.address_bits);
    const Regions regions = find_regions(plan, spec.generation);
    find_ways_in();
    std::vector<bool> continues(block.empty() ? 0 : block.back() + 1);
    for (u32 i = 0; i < block.size(); ++i)
      if (regions.meeting[i] != kNone && is_whole(i, regions)) {
        for (u32 b = block[i] + 1; b <= block[regions.meeting[i]]; ++b) continues[b] = true;
        for (u32 k = i; k < regions.meeting[i]; ++k) convert(k, plan.guard(i)->reg, regions);
        meeting[i] = regions.meeting[i];
      }
    for (u32 b = 0, region = 0; b < continues.size(); ++b) {
      region += b != 0 && !continues[b] ? 1 : 0;
      for (u32 i = first_[b]; i < first_[b + 1]; ++i) block[i] = region;
    }
  }

  trace::KernelCode code;  ///< with the predicates of what stood on sides
  std::vector<u32> block;  ///< by instruction
  std::vector<bool> dropped;
  std::vector<u32> meeting;  ///< of branches that are dropped, kNoRegister of others

 private:
  void find_ways_in() {
    const u32 size = static_cast<u32>(block.size());
    for (u32 i = 0; i < size; ++i)
      if (i == 0 || block[i] != block[i - 1]) first_.push_back(i);
    first_.push_back(size);
    ways_in_.resize(first_.size() - 1);
    for (u32 i = 0; i < size; ++i) {
      const StaticInst& in = code.instructions[i];
      if (!in.jumps && i + 1 < size && block[i + 1] != block[i])
        ways_in_[block[i + 1]].push_back(i);
      for (const u32 to : in.next)
        if (to < size) ways_in_[block[to]].push_back(i);
    }
  }
  /// All between the branch and the meeting place belongs to its sides, and nobody else comes in.
  bool is_whole(u32 branch, const Regions& regions) const {
    const u32 end = regions.meeting[branch];
    if (end <= branch) return false;
    for (u32 k = branch + 1; k < end; ++k)
      if (regions.branch[k] != branch) return false;
    const auto within = [&](u32 from) { return from >= branch && from < end; };
    for (u32 b = block[branch] + 1; b <= block[end]; ++b)
      if (!std::ranges::all_of(ways_in_[b], within)) return false;
    return true;
  }
  void convert(u32 k, u32 predicate, const Regions& regions) {
    if (regions.predicated[k]) dropped[k] = true;
    else code.instructions[k].predicate = predicate;
  }

  std::vector<u32> first_;                 // by block, and the end
  std::vector<std::vector<u32>> ways_in_;  // by block: instructions before it
};

/// What the order must know: the predicate is read, and where it is false the old value stays.
trace::KernelCode with_guards(trace::KernelCode code) {
  for (StaticInst& in : code.instructions) {
    if (in.predicate == trace::kNoRegister) continue;
    const std::vector<Operand> operands = in.operands;
    in.operands.push_back({Kind::Guard, in.predicate});
    for (const Operand& o : operands)
      if (o.kind == Kind::Write) in.operands.push_back({Kind::Read, o.reg});
  }
  return code;
}

/// Instructions from `size` on stand for others.
std::vector<ScheduleStep> steps(const trace::KernelCode& original, const Schedule& in,
                                const Predication& predication, u32 size) {
  std::vector<ScheduleStep> out;
  out.reserve(original.instructions.size());
  for (u32 i = 0; i < original.instructions.size(); ++i) {
    const u32 as = i < size ? i : original.instructions[i].alias_of;
    RADDLE_ASSERT(as < size);
    const OpKind kind = in.code.instructions[in.place[i]].kind;
    const u32 block = predication.block[as];
    out.push_back({.block = block,
                   .as = as,
                   .place = in.place[i],
                   .turn = in.place[as] - in.begin[block],
                   .meeting = predication.meeting[as],
                   .dropped = in.dropped[as],
                   .carries = !in.dropped[i] && trace::carries_transactions(kind),
                   .shares = kind == OpKind::Alu || kind == OpKind::Branch});
  }
  return out;
}

/// Of a block that may have been executed as a whole.
WholeBlock whole(const Schedule& in, u32 block) {
  const u32 first = in.first[block], size = in.first[block + 1] - first;
  const auto step = [&](u32 i) -> const ScheduleStep& { return in.steps[first + i]; };
  WholeBlock out;
  out.runs.resize(size);
  std::vector<std::vector<u32>> at(in.begin[block + 1] - in.begin[block]);  // instructions, by turn
  std::vector<std::uint16_t> number(size);  // of those with a record of their own
  std::uint16_t own = 0;
  for (u32 i = 0; i < size; ++i) {
    if (step(i).dropped) continue;
    at[step(i).turn].push_back(i);
    if (step(i).shares) continue;
    if (own == WholeBlock::kMaxOwn) return {};
    number[i] = own++;
  }
  for (u32 i = size; i-- > 0;) {
    const u32 behind = i + 1 < size ? out.runs[i + 1] : 0u;
    out.runs[i] = static_cast<std::uint16_t>(
        step(i).dropped || step(i).shares ? std::min(behind + 1, trace::kMaxRun) : 0);
  }
  for (u32 turn = 0, run = 0; turn < at.size(); ++turn) {
    const ScheduleStep& leader = step(at[turn].front());
    run = leader.shares ? run % trace::kMaxRun + 1 : 0;
    const u32 head = trace::Record::make(leader.place, 1, 0, 0).head;
    if (run > 1) {
      out.outputs.back().head = trace::Record::make(leader.place - (run - 1), run, 0, 0).head;
      continue;
    }
    out.outputs.push_back({.head = head,
                           .own = static_cast<u32>(out.own.size()),
                           .number = static_cast<std::uint8_t>(leader.shares ? 0 : at[turn].size()),
                           .carries = leader.carries});
    if (leader.shares) continue;
    for (const u32 i : at[turn]) out.own.push_back(number[i]);
  }
  out.last_stays = at.back().back() == size - 1;
  return out;
}

}  // namespace

Schedule schedule(const trace::KernelCode& original_code, const LoweringSpec& spec,
                  const std::optional<Delays>& delays) {
  Schedule out;
  const u32 size = size_without_aliases(original_code),
            all = static_cast<u32>(original_code.instructions.size());
  if (original_code.register_bytes.empty() || calls_functions(original_code) || size == 0)
    return out;
  out.is_identity = false;
  const Predication predication(original_code, spec);
  const trace::KernelCode& code = predication.code;
  const trace::KernelCode guarded = with_guards(code);
  const std::vector<u32>& block_of = predication.block;
  out.dropped = predication.dropped;
  std::vector<bool> aliased(all, false);
  for (u32 i = size; i < all; ++i) aliased[code.instructions[i].alias_of] = true;

  // Joined first, so that a block knows them as one load.
  const std::vector<u32> leader = Joiner(guarded, block_of).run(aliased);
  std::map<u32, std::vector<u32>> groups;
  for (u32 i = 0; i < size; ++i)
    if (!out.dropped[i]) groups[leader[i]].push_back(i);
  trace::KernelCode fewer = code;
  fewer.instructions.clear();
  std::vector<u32> original;
  std::vector<bool> fewer_aliased;
  for (const auto& [lead, members] : groups) {
    fewer.instructions.push_back(members.size() == 1 ? guarded.instructions[lead]
                                                     : joined(guarded, members));
    original.push_back(lead);
    fewer_aliased.push_back(aliased[lead]);
  }

  out.code = code;
  out.code.instructions.clear();
  out.place.resize(all);
  out.joined.resize(all);
  const u32 left = static_cast<u32>(original.size());
  for (u32 begin = 0, end; begin < left; begin = end) {
    const u32 block = block_of[original[begin]];
    RADDLE_ASSERT(block == out.begin.size());  // none has lost all its instructions
    for (end = begin; end < left && block_of[original[end]] == block;) ++end;
    out.begin.push_back(static_cast<u32>(out.code.instructions.size()));
    for (const u32 at : Block(fewer, fewer_aliased, delays, begin, end).order()) {
      const u32 place = static_cast<u32>(out.code.instructions.size());
      const std::vector<u32>& members = groups[original[at]];
      for (const u32 i : members) {
        out.place[i] = place;
        out.joined[i] = i != original[at];
      }
      out.code.instructions.push_back(members.size() == 1 ? code.instructions[original[at]]
                                                          : fewer.instructions[at]);
    }
  }
  out.begin.push_back(static_cast<u32>(out.code.instructions.size()));
  for (u32 i = 0; i < size; ++i) {
    if (i == 0 || block_of[i] != block_of[i - 1]) {
      out.first.push_back(i);
      out.as_written.push_back(true);
    }
    if (out.dropped[i]) out.place[i] = out.begin[block_of[i]];
    if (out.dropped[i] || out.joined[i] ||
        out.place[i] - out.begin[block_of[i]] != i - out.first.back())
      out.as_written.back() = false;
  }
  out.first.push_back(size);
  for (u32 i = size; i < all; ++i) {
    out.place[i] = static_cast<u32>(out.code.instructions.size());
    out.code.instructions.push_back(code.instructions[i]);
    out.code.instructions.back().alias_of = out.place[code.instructions[i].alias_of];
  }
  for (StaticInst& in : out.code.instructions)
    for (u32& to : in.next) to = out.begin[block_of[to]];
  out.steps = steps(original_code, out, predication, size);
  for (u32 block = 0; block + 1 < out.first.size(); ++block)
    out.whole.push_back(out.as_written[block] ? WholeBlock{} : whole(out, block));
  return out;
}

}  // namespace raddle::lowering
