#include "raddle/timing/cache/denovo_bank.h"

#include <algorithm>
#include <bit>

#include "raddle/base/mask.h"
#include "raddle/timing/cache/denovo_l1.h"

namespace raddle::timing {

namespace {
bool needs_data(const Message& m) {
  return m.kind == MessageKind::Read || m.kind == MessageKind::Own;
}
}  // namespace

DenovoBank::DenovoBank(const Shape& shape, const AddressMap& map)
    : shape_(shape),
      map_(map),
      line_(std::size_t{shape.sets} * shape.ways),
      mshr_(shape.mshrs),
      recall_(DenovoL1::kRecallsOfBank) {}

unsigned DenovoBank::find(std::uint32_t line) const {
  const unsigned begin = map_.set(line) * shape_.ways;
  for (unsigned at = begin; at < begin + shape_.ways; ++at)
    if (line_[at].present && line_[at].line == line) return at;
  return kAbsent;
}

unsigned DenovoBank::victim(const Message& m) const {
  const unsigned begin = map_.set(m.line) * shape_.ways;
  const Tags::WayMask among = shares_ == nullptr ? Tags::kAnyWay : shares_->of(index(m.tenant));
  unsigned best = kAbsent;
  for (unsigned at = begin; at < begin + shape_.ways; ++at) {
    if (among != Tags::kAnyWay && (among >> (at - begin) & 1) == 0) continue;
    if (!line_[at].present) return at;
    if (!line_[at].fetching && (best == kAbsent || line_[at].used < line_[best].used)) best = at;
  }
  return best;
}

DenovoBank::Wait DenovoBank::take(const Message& m, Free free, stats::L2Counters& count) {
  unsigned at = find(m.line);
  if (m.kind == MessageKind::WriteBack) {
    ++count.writes;
    ++count.hits;
    write_back(m, at);
    return Wait::Nothing;
  }
  if (at == kAbsent && recalls_used_ != 0)
    for (const Recall& r : recall_)
      if (r.used && r.line == m.line) return Wait::Recall;
  const WordMask known =
      at == kAbsent ? WordMask{0} : static_cast<WordMask>(line_[at].here | line_[at].registered);
  if (needs_data(m) && without(m.words, known) != 0) {
    if (const Wait wait = miss(m, at, free, count); wait != Wait::Nothing) return wait;
  } else {
    const bool present = at != kAbsent;
    if (!present)
      if (const Wait wait = evict_for(m, free, count, at); wait != Wait::Nothing) return wait;
    ++(present ? count.hits : count.misses);
    serve(m, at, 0, count);
  }
  ++(m.kind == MessageKind::Read  ? count.reads
     : m.kind == MessageKind::Own ? count.atomics
                                  : count.writes);
  return Wait::Nothing;
}

/// A way for the line, which is absent. Registered words of the line that was there are recalled.
DenovoBank::Wait DenovoBank::evict_for(const Message& message, Free free, stats::L2Counters& count,
                                       unsigned& at) {
  const unsigned way = victim(message);
  if (way == kAbsent) return Wait::Way;
  Line& old = line_[way];
  if (old.present && old.registered != 0 && recalls_used_ == recall_.size()) return Wait::Recall;
  if (old.present && (old.registered | old.dirty) != 0 && !free.write_back) return Wait::WriteBack;
  if (old.present) {
    ++count.evictions;
    const Dirty out{old.line, message.sm, message.kernel, message.tenant};
    if (old.registered != 0) {
      auto recall =
          std::find_if(recall_.begin(), recall_.end(), [](const Recall& x) { return !x.used; });
      *recall = {.line = old.line,
                 .left = old.registered,
                 .used = true,
                 .id = ++recall_id_,
                 .owner = old.owner,
                 .dirty = out};
      ++recalls_used_;
      Message about = message;
      about.line = old.line;
      about.tag = recall_id_;
      each_owner(old, old.registered, [&](unsigned owner, WordMask words) {
        ++count.recalls;
        inform(about, MessageKind::Recall, words, owner);
      });
    } else if (old.dirty != 0) {
      dirty_.push_back(out);
    }
  }
  old = Line{};
  old.line = message.line;
  old.present = true;
  old.used = ++uses_;
  at = way;
  return Wait::Nothing;
}

DenovoBank::Wait DenovoBank::miss(const Message& m, unsigned at, Free free,
                                  stats::L2Counters& count) {
  Mshr* entry = nullptr;
  for (Mshr& e : mshr_) {
    if (!e.used) {
      if (entry == nullptr) entry = &e;
    } else if (e.line == m.line) {
      if (e.waiting.size() >= shape_.merges) return Wait::Mshr;
      ++count.pending_hits;
      e.waiting.push_back(m);
      return Wait::Nothing;
    }
  }
  if (entry == nullptr) return Wait::Mshr;
  if (!free.fetch) return Wait::Dram;
  if (at == kAbsent)
    if (const Wait wait = evict_for(m, free, count, at); wait != Wait::Nothing) return wait;
  line_[at].fetching = true;
  entry->line = m.line;
  entry->used = true;
  entry->waiting.assign(1, m);
  ++mshrs_used_;
  ++count.misses;
  ++count.fetches;
  fetches_.push_back({m.line, static_cast<std::uint16_t>(entry - mshr_.data()), m.sm, m.kernel,
                      m.tenant, m.core_rank});
  return Wait::Nothing;
}

/// The line is present, and what the request needs is here or registered.
void DenovoBank::serve(const Message& m, unsigned at, unsigned dram_accesses,
                       stats::L2Counters& count) {
  Line& line = line_[at];
  line.used = ++uses_;
  if (m.kind == MessageKind::Read) read(m, line, dram_accesses, count);
  else own(m, line, dram_accesses, count);
}

/// notify(owner, words) for each L1 where some of the words are registered.
template <class Notify>
void DenovoBank::each_owner(const Line& line, WordMask words, Notify notify) {
  while (words != 0) {
    const unsigned owner = line.owner[lowest(words)];
    WordMask its = 0;
    for (unsigned rest = words; rest != 0; rest &= rest - 1)
      if (line.owner[lowest(rest)] == owner) its |= static_cast<WordMask>(1u << lowest(rest));
    notify(owner, its);
    words = without(words, its);
  }
}

void DenovoBank::read(const Message& m, Line& line, unsigned dram_accesses,
                      stats::L2Counters& count) {
  WordMask elsewhere = 0;
  each_owner(line, m.words & line.registered, [&](unsigned owner, WordMask words) {
    if (owner == m.sm) return;
    elsewhere |= words;
    ++count.forwards;
    inform(m, MessageKind::Forward, words, owner);
  });
  // What the sender has registered itself in the meantime counts as answered.
  const WordMask own = without(m.words & line.registered, elsewhere);
  if (without(m.words, elsewhere) == 0) return;
  answer(m, MessageKind::Read, line.here | own, true, dram_accesses);
}

/// Register and Own: the words are the sender's.
void DenovoBank::own(const Message& m, Line& line, unsigned dram_accesses,
                     stats::L2Counters& count) {
  const bool data = m.kind == MessageKind::Own;
  WordMask elsewhere = 0;
  each_owner(line, m.words & line.registered, [&](unsigned owner, WordMask words) {
    if (owner == m.sm) return;
    elsewhere |= words;
    ++(data ? count.takes : count.invalidations);
    inform(m, data ? MessageKind::Take : MessageKind::Invalidate, words, owner);
  });
  line.here = without(line.here, m.words);
  line.dirty = without(line.dirty, m.words);
  line.registered |= m.words;
  for (unsigned rest = m.words; rest != 0; rest &= rest - 1) line.owner[lowest(rest)] = m.sm;
  if (const WordMask rest = without(m.words, elsewhere); rest != 0)
    answer(m, data ? MessageKind::Owned : MessageKind::Registered, rest, data, dram_accesses);
}

/// `at`: the line's, if it is present. Words that are registered elsewhere by now are stale.
void DenovoBank::write_back(const Message& m, unsigned at) {
  if (at != kAbsent) {
    Line& line = line_[at];
    WordMask its = 0;
    each_owner(line, m.words & line.registered, [&](unsigned owner, WordMask words) {
      if (owner == m.sm) its = words;
    });
    line.registered = without(line.registered, its);
    line.here |= its;
    line.dirty |= its;
  } else {
    for (Recall& r : recall_) {
      if (!r.used || r.line != m.line) continue;
      WordMask its = 0;
      for (unsigned rest = m.words & r.left; rest != 0; rest &= rest - 1)
        if (r.owner[lowest(rest)] == m.sm) its |= static_cast<WordMask>(1u << lowest(rest));
      give_back(r, its);
    }
  }
  answer(m, MessageKind::WroteBack, 0, false, 0);
}

void DenovoBank::recalled(const Message& m) {
  for (Recall& r : recall_)
    if (r.used && r.line == m.line && r.id == m.tag) return give_back(r, m.words & r.left);
}

void DenovoBank::give_back(Recall& recall, WordMask words) {
  recall.left = without(recall.left, words);
  if (recall.left != 0) return;
  recall.used = false;
  --recalls_used_;
  dirty_.push_back(recall.dirty);
}

void DenovoBank::answer(const Message& m, MessageKind kind, WordMask words, bool data,
                        unsigned dram_accesses) {
  Message out = m;
  out.kind = kind;
  out.words = words;
  out.peer = kFromBank;
  out.dram_accesses = static_cast<std::uint8_t>(dram_accesses);
  out_.push_back({out, data});
}

void DenovoBank::inform(const Message& m, MessageKind kind, WordMask words, unsigned owner) {
  Message out = m;
  out.kind = kind;
  out.words = words;
  out.peer = static_cast<std::uint16_t>(owner);
  out.dram_accesses = 0;
  out_.push_back({out, false});
}

// --- the host ------------------------------------------------------------------------------------

void DenovoBank::host(const HostLine& access, HostEffects& effects) {
  ++(access.write ? effects.count.writes : effects.count.reads);
  unsigned at = find(access.line);
  if (at == kAbsent) at = host_way(access.line, effects);
  if (at == kAbsent) return;
  Line& line = line_[at];
  line.used = ++uses_;
  if (access.write) {
    host_take(line, access.words & line.registered, effects);
    line.here |= access.words;
    line.dirty |= access.words;
  } else if (without(access.words, static_cast<WordMask>(line.here | line.registered)) != 0) {
    // Owners answer for registered words, and stay their owners.
    ++effects.count.fetches;
    line.here |= static_cast<WordMask>(~line.registered);
  }
}

/// A way for the line, which is absent; kAbsent if none is to be had.
unsigned DenovoBank::host_way(std::uint32_t line, HostEffects& effects) {
  Message m;
  m.line = line;
  const unsigned at = victim(m);
  if (at == kAbsent) return kAbsent;
  Line& old = line_[at];
  if (old.present) {
    ++effects.count.evictions;
    host_take(old, old.registered, effects);
  }
  old = Line{};
  old.line = line;
  old.present = true;
  return at;
}

void DenovoBank::host_take(Line& line, WordMask words, HostEffects& effects) {
  each_owner(line, words, [&](unsigned owner, WordMask its) {
    effects.count.taken += static_cast<unsigned>(std::popcount(its));
    effects.lose(owner, line.line, its);
  });
  line.registered = without(line.registered, words);
}

DenovoBank::Words DenovoBank::words(std::uint32_t line) const {
  const unsigned at = find(line);
  if (at == kAbsent) return {};
  return {line_[at].here, line_[at].registered, true};
}

std::optional<unsigned> DenovoBank::owner(std::uint32_t line, unsigned word) const {
  if (const unsigned at = find(line); at != kAbsent) {
    if ((line_[at].registered >> word & 1) == 0) return {};
    return line_[at].owner[word];
  }
  for (const Recall& r : recall_)
    if (r.used && r.line == line && (r.left >> word & 1) != 0) return r.owner[word];
  return {};
}

}  // namespace raddle::timing
