// Machine instructions are made with words first (plan.h), temporaries behind them; then words get
// register numbers by linear scan, as ptx/assignment.cpp does for PTX. A word's live range is the
// hull of its uses, stretched over every backward branch that it is live across: simple, and never
// too short. The count of registers is the estimate that decides residency.
#include "raddle/lowering/emit.h"

#include <algorithm>
#include <map>
#include <queue>

#include "raddle/base/error.h"
#include "raddle/lowering/liveness.h"
#include "raddle/lowering/regions.h"
#include "raddle/lowering/rules.h"

namespace raddle::lowering {

namespace {

using trace::Operand;
using trace::StaticInst;
using u32 = std::uint32_t;

struct MachineInst {
  StaticInst inst;  ///< reads and writes still empty
  std::vector<Word> reads, writes;
  bool guarded = false;
};

class Emitter {
 public:
  Emitter(const Plan& plan, Generation generation)
      : plan_(plan),
        code_(plan.code()),
        generation_(generation),
        regions_(find_regions(plan, generation)),
        words_(plan.words()) {}

  trace::LoweredCode run(bool wants_live) {
    trace::LoweredCode out;
    for (u32 i = 0; i < code_.instructions.size(); ++i) {
      out.first.push_back(static_cast<u32>(made_.size()));
      // R1, the stack's address, comes from the launch's constants.
      if (i == 0 && !is_target(0)) add_step("move t=", i, nullptr);
      const u32 as =
          code_.instructions[i].alias_of == trace::kNoRegister ? i : code_.instructions[i].alias_of;
      if (regions_.meets[as]) add_barrier(i, trace::OpKind::Branch);
      if (regions_.prepares[as]) add_barrier(i, trace::OpKind::Alu);
      if (!plan_.is_removed(as) && !regions_.predicated[as]) lower(i, as);
    }
    out.first.push_back(static_cast<u32>(made_.size()));
    if (wants_live && !calls_functions(code_)) find_live(out);
    assign(out);
    return out;
  }

 private:
  bool is_target(u32 i) const {
    return std::any_of(code_.instructions.begin(), code_.instructions.end(),
                       [&](const StaticInst& in) {
                         return std::find(in.next.begin(), in.next.end(), i) != in.next.end();
                       });
  }

  /// BSSY, or BSYNC: behind that a warp's next instruction waits as behind a branch.
  void add_barrier(u32 i, trace::OpKind kind) {
    MachineInst m = start(i);
    m.inst.kind = kind;
    m.inst.bytes = 0;
    m.inst.op_class =
        kind == trace::OpKind::Branch ? trace::OpClass::Converge : trace::OpClass::Control;
    made_.push_back(std::move(m));
  }

  void lower(u32 i, u32 as) {
    const StaticInst& in = code_.instructions[i];
    if (in.kind == trace::OpKind::LoadConst && becomes_moves(as)) {
      for (unsigned w = 0; w < plan_.value(plan_.destinations(as)[0]->reg).words(); ++w)
        add_step(w == 0 ? "move d0=" : "move d1=", i, &as);
      return;
    }
    if (in.kind == trace::OpKind::Alu) {
      const auto to = plan_.destinations(as);
      const bool narrow = to.size() == 1 && plan_.value(to[0]->reg).narrow;
      if (const Rule* rule =
              find_rule(plan_.rule_name(as), generation_, narrow, plan_.is_immediate(as))) {
        temporaries_.clear();
        for (std::string_view rest = rule->steps; !rest.empty();) {
          const std::size_t end = std::min(rest.find(';'), rest.size());
          add_step(rest.substr(0, end), i, &as);
          rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        return;
      }
    }
    add_whole(i, as);
  }

  /// A launch parameter in a register: before Hopper a move of a constant operand.
  bool becomes_moves(u32 i) const {
    return generation_ != Generation::Hopper && plan_.opcode(i).starts_with("ld.param") &&
           plan_.destinations(i).size() == 1;
  }

  /// One instruction, as PTX has it.
  void add_whole(u32 i, u32 as) {
    MachineInst m = start(i);
    for (const Operand* o : plan_.sources(as)) add_words(m.reads, *o);
    for (const Operand* o : plan_.destinations(as)) add_words(m.writes, *o);
    finish(std::move(m), as);
  }

  MachineInst start(u32 i) {
    MachineInst m;
    const StaticInst& in = code_.instructions[i];
    m.inst.kind = in.kind;
    m.inst.op_class = in.op_class;
    m.inst.bytes = in.bytes;
    m.inst.bypass_l1 = in.bypass_l1;
    m.inst.acquires = in.acquires;
    m.inst.releases = in.releases;
    m.inst.copy = in.copy;
    m.inst.line = in.line;
    m.inst.opcode = in.opcode;
    m.inst.source = in.source;
    return m;
  }
  void finish(MachineInst m, u32 as) {
    const u32 branch = regions_.branch[as];
    const Operand side{Operand::Kind::Guard, code_.instructions[as].predicate};
    for (const Operand* guard : {branch == kNone ? nullptr : plan_.guard(branch), plan_.guard(as),
                                 side.reg == trace::kNoRegister ? nullptr : &side}) {
      if (guard == nullptr) continue;
      add_words(m.reads, *guard);
      m.guarded = true;
    }
    made_.push_back(std::move(m));
  }
  void add_words(std::vector<Word>& to, const Operand& o) const {
    if (o.reg == trace::kNoRegister) return;
    for (unsigned w = 0; w < plan_.value(o.reg).words(); ++w) add_word(to, plan_.word(o.reg, w));
  }
  static void add_word(std::vector<Word>& to, Word word) {
    if (word != kConstant) to.push_back(word);
  }

  /// "class destinations=sources" of the rules' table; `as` is null where there are no operands.
  void add_step(std::string_view step, u32 i, const u32* as) {
    const std::size_t space = step.find(' '), equals = std::min(step.find('='), step.size());
    MachineInst m = start(i);
    m.inst.kind = trace::OpKind::Alu;
    m.inst.bytes = 0;
    m.inst.op_class = class_named(step.substr(0, space));
    add_names(m.writes, step.substr(space + 1, equals - space - 1), as);
    if (equals < step.size()) add_names(m.reads, step.substr(equals + 1), as);
    finish(std::move(m), as ? *as : i);
  }

  static trace::OpClass class_named(std::string_view name) {
    for (unsigned c = 0; c < trace::kOpClasses; ++c)
      if (name == trace::kOpClassNames[c]) return static_cast<trace::OpClass>(c);
    RADDLE_ASSERT(false);
    return {};
  }

  void add_names(std::vector<Word>& to, std::string_view names, const u32* as) {
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(','), names.size());
      add_name(to, names.substr(0, end), as);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }

  void add_name(std::vector<Word>& to, std::string_view name, const u32* as) {
    const char letter = name[0];
    constexpr std::string_view kSources = "abce";
    const std::size_t source = kSources.find(letter);
    if (letter != 'd' && source == kSources.npos) return to.push_back(temporary(letter));
    if (!as) return;
    const auto all = letter == 'd' ? plan_.destinations(*as) : plan_.sources(*as);
    const std::size_t at = letter == 'd' ? 0 : source;
    if (at >= all.size()) return;
    if (name.size() == 1) {
      add_words(to, *all[at]);
      for (std::size_t more = 1; letter == 'd' && more < all.size(); ++more)
        add_words(to, *all[more]);  // setp p|q
      return;
    }
    const u32 reg = all[at]->reg;
    if (reg != trace::kNoRegister)
      add_word(to, plan_.word(reg, static_cast<unsigned>(name[1] - '0')));
  }

  /// p and q are predicates, the others registers.
  Word temporary(char letter) {
    const auto [at, fresh] = temporaries_.try_emplace(letter, words_);
    if (fresh) {
      ++words_;
      if (letter == 'p' || letter == 'q') predicates_.push_back(at->second);
    }
    return at->second;
  }

  bool is_predicate(Word w) const {
    return w < plan_.words() ? plan_.is_predicate(w)
                             : std::binary_search(predicates_.begin(), predicates_.end(), w);
  }

  struct Range {
    u32 begin = kNone, end = 0;
    bool is_used() const { return begin <= end; }
  };
  std::vector<Range> live_ranges(const trace::LoweredCode& out) const;
  std::vector<u32> scan(const std::vector<Range>& live, bool predicates, u32& maximum) const;
  void find_live(trace::LoweredCode& out) const;
  void assign(trace::LoweredCode& out);

  const Plan& plan_;
  const trace::KernelCode& code_;
  const Generation generation_;
  const Regions regions_;
  u32 words_;
  std::map<char, Word> temporaries_;
  std::vector<Word> predicates_;  ///< among the temporaries, rising
  std::vector<MachineInst> made_;
};

std::vector<Emitter::Range> Emitter::live_ranges(const trace::LoweredCode& out) const {
  std::vector<Range> live(words_);
  const auto cover = [&](Word word, u32 at) {
    live[word].begin = std::min(live[word].begin, at);
    live[word].end = std::max(live[word].end, at);
  };
  for (u32 i = 0; i < made_.size(); ++i) {
    for (Word word : made_[i].reads) cover(word, 2 * i);
    for (Word word : made_[i].writes) cover(word, 2 * i + 1);
  }
  struct Back {
    u32 from, to;
  };
  std::vector<Back> backs;
  for (u32 i = 0; i < code_.instructions.size(); ++i)
    for (u32 to : code_.instructions[i].next)
      if (to <= i && out.first[i + 1] > 0)
        backs.push_back({2 * out.first[i + 1] - 1, 2 * out.first[to]});
  for (bool again = !backs.empty(); again;) {
    again = false;
    for (u32 word = 0; word < plan_.words(); ++word) {  // temporaries live inside one instruction
      if (!live[word].is_used()) continue;
      for (const Back& back : backs) {
        Range& range = live[word];
        const Range before = range;
        if (range.begin < back.to && range.end >= back.to)
          range.end = std::max(range.end, back.from);
        if (range.begin <= back.from && range.end > back.from)
          range.begin = std::min(range.begin, back.to);
        again |= range.begin != before.begin || range.end != before.end;
      }
    }
  }
  return live;
}

std::vector<u32> Emitter::scan(const std::vector<Range>& live, bool predicates,
                               u32& maximum) const {
  std::vector<Word> order;
  for (Word w = 0; w < words_; ++w)
    if (live[w].is_used() && is_predicate(w) == predicates) order.push_back(w);
  std::ranges::sort(order, {}, [&](Word w) { return std::pair(live[w].begin, w); });
  using Ending = std::pair<u32, u32>;  // position, number
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ending;
  std::priority_queue<u32, std::vector<u32>, std::greater<>> free;
  std::vector<u32> number(words_, kNone);
  maximum = 0;
  for (Word w : order) {
    for (; !ending.empty() && ending.top().first < live[w].begin; ending.pop())
      free.push(ending.top().second);
    if (free.empty()) free.push(maximum++);
    number[w] = free.top();
    free.pop();
    ending.push({live[w].end, number[w]});
  }
  return number;
}

/// Control flow is that of the PTX instructions; a branch of which nothing is left is a step
/// without registers.
void Emitter::find_live(trace::LoweredCode& out) const {
  const u32 size = size_without_aliases(code_);
  std::vector<u32> first_step;
  std::vector<LiveStep> steps;
  for (u32 i = 0; i < size; ++i) {
    first_step.push_back(static_cast<u32>(steps.size()));
    for (u32 at = out.first[i]; at < out.first[i + 1]; ++at)
      steps.push_back({made_[at].reads, made_[at].writes, made_[at].guarded});
    if (!code_.instructions[i].jumps) continue;
    if (out.first[i] == out.first[i + 1]) steps.push_back({});
    steps.back().jumps = true;
    steps.back().next = code_.instructions[i].next;
  }
  for (LiveStep& step : steps)
    for (u32& to : step.next) to = first_step[to];
  std::vector<bool> counted(words_);
  for (Word w = 0; w < words_; ++w) counted[w] = !is_predicate(w);
  const std::vector<u32> live = count_live(steps, counted);
  constexpr u32 kStack = 1;  // R1 always lives
  for (u32 i = 0; i < code_.instructions.size(); ++i) {
    const u32 as = i < size ? i : code_.instructions[i].alias_of;
    const u32 maximum = out.first[as + 1] - out.first[as];
    for (u32 k = 0; k < out.first[i + 1] - out.first[i]; ++k)
      out.live.push_back(kStack + live[first_step[as] + std::min(k, maximum - 1)]);
  }
}

void Emitter::assign(trace::LoweredCode& out) {
  const std::vector<Range> live = live_ranges(out);
  u32 registers = 0, predicates = 0;
  const std::vector<u32> general = scan(live, false, registers),
                         flags = scan(live, true, predicates);
  constexpr u32 kGeneral = trace::kFirstPredicate, kFlags = trace::kPcRegister - kGeneral;
  const auto numbers = [&](const std::vector<Word>& words) {
    std::vector<std::uint8_t> list;
    for (Word word : words)
      list.push_back(static_cast<std::uint8_t>(is_predicate(word) ? kGeneral + flags[word] % kFlags
                                                                  : general[word] % kGeneral));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  };
  out.code.name = code_.name;
  out.code.file = code_.file;
  out.code.source_files = code_.source_files;
  out.code.opcode_names = code_.opcode_names;
  // R1 stays the stack's. Instructions can name 255; further values would go to local memory, which
  // is left out.
  out.code.registers_per_thread = std::min(registers + 1, 255u);
  out.code.static_shared_bytes = code_.static_shared_bytes;
  out.code.local_bytes_per_thread = code_.local_bytes_per_thread;
  for (MachineInst& inst : made_) {
    inst.inst.reads = numbers(inst.reads);
    inst.inst.writes = numbers(inst.writes);
    if (inst.inst.kind == trace::OpKind::Branch) inst.inst.writes.push_back(trace::kPcRegister);
    out.code.instructions.push_back(std::move(inst.inst));
  }
}

}  // namespace

trace::LoweredCode emit(const Plan& plan, Generation generation, bool wants_live) {
  return Emitter(plan, generation).run(wants_live);
}

}  // namespace raddle::lowering
