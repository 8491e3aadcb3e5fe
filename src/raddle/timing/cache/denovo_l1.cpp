#include "raddle/timing/cache/denovo_l1.h"

#include <algorithm>
#include <bit>

namespace raddle::timing {

namespace {
using stats::Refusal;

/// Each other L1 has so many requests under way at most, each of which reaches us once at a time;
/// each bank recalls so many lines at once.
unsigned max_responses(const L1dSpec& spec, unsigned sms, unsigned banks) {
  return sms * (spec.mshr_entries + spec.store_buffer) + banks * DenovoL1::kRecallsOfBank;
}
}  // namespace

DenovoL1::DenovoL1(const L1dSpec& spec, unsigned sm, unsigned sms, unsigned banks)
    : sm_(sm),
      ways_(spec.ways),
      merges_(spec.mshr_merges),
      hash_(spec.index == SetIndex::Hash),
      sets_(spec.sets()),
      interleave_(spec.sets(), 0x51ed270bu),
      way_(std::size_t{spec.sets()} * spec.ways),
      entry_(spec.mshr_entries),
      store_buffer_(spec.store_buffer),
      requests_(2),
      write_backs_(spec.sets() * spec.ways),
      responses_(max_responses(spec, sms, banks)) {
  RADDLE_ASSERT(spec.line_bytes == 64 && spec.store_buffer != 0 && sm < kFromBank);
}

unsigned DenovoL1::set_of(std::uint32_t line) const {
  return hash_ ? interleave_(line).part : line - sets_.quotient(line) * sets_.value();
}

unsigned DenovoL1::find(std::uint32_t line) const {
  const unsigned begin = set_of(line) * ways_;
  for (unsigned at = begin; at < begin + ways_; ++at)
    if (way_[at].present && way_[at].line == line) return at;
  return kAbsent;
}

/// Of the ways of the line's set that the launch may fill an empty one, else the least recently
/// used one that nothing pins, or kAbsent.
unsigned DenovoL1::victim(std::uint32_t line, unsigned kernel) const {
  const unsigned begin = set_of(line) * ways_;
  const Tags::WayMask among = shares_ == nullptr ? Tags::kAnyWay : shares_->of(kernel);
  unsigned best = kAbsent;
  for (unsigned at = begin; at < begin + ways_; ++at) {
    if (among != Tags::kAnyWay && (among >> (at - begin) & 1) == 0) continue;
    if (!way_[at].present) return at;
    if (way_[at].pins == 0 && (best == kAbsent || way_[at].used < way_[best].used)) best = at;
  }
  return best;
}

/// A way for a line that is absent, or kAbsent; what was there is written back.
unsigned DenovoL1::free_way(Cycle now, std::uint32_t line, unsigned kernel) {
  const unsigned at = victim(line, kernel);
  if (at == kAbsent) return at;
  Way& way = way_[at];
  if (way.present && way.registered != 0) {
    auto free = std::find_if(write_back_.begin(), write_back_.end(),
                             [](const WriteBackEntry& w) { return !w.used; });
    if (free == write_back_.end()) free = write_back_.insert(free, WriteBackEntry{});
    *free = {way.line, way.registered, true};
    ++write_backs_used_;
    write_backs_.push(request(MessageKind::WriteBack, way.line, way.registered,
                              static_cast<unsigned>(free - write_back_.begin()), kernel));
  }
  if (events_ != nullptr) {
    if (way.present) report_evicted(now, at, policy::L1Eviction::Why::Replaced);
    events_->placed(at);
  }
  way = {.line = line,
         .valid = 0,
         .registered = 0,
         .owning = 0,
         .pins = 0,
         .present = true,
         .used = ++uses_};
  return at;
}

/// Words of the line whose data are on their way to the bank.
WordMask DenovoL1::in_write_back(std::uint32_t line) const {
  if (write_backs_used_ == 0) return 0;
  for (const WriteBackEntry& w : write_back_)
    if (w.used && w.line == line) return w.words;
  return 0;
}

Message DenovoL1::request(MessageKind kind, std::uint32_t line, WordMask words, unsigned tag,
                          unsigned kernel) const {
  Message m;
  m.line = line;
  m.sm = static_cast<std::uint16_t>(sm_);
  m.tag = static_cast<std::uint16_t>(tag);
  m.kind = kind;
  m.kernel = static_cast<std::uint8_t>(kernel);
  m.words = words;
  m.peer = static_cast<std::uint16_t>(sm_);
  return m;
}

// --- accesses --------------------------------------------------------------------------------

void DenovoL1::observe(policy::L1Observer& observer) {
  if (events_ == nullptr) events_ = std::make_unique<L1Events>(way_.size(), entry_.size());
  events_->add(observer);
}

void DenovoL1::report_evicted(Cycle now, unsigned at, policy::L1Eviction::Why why) {
  const Way& way = way_[at];
  if ((way.valid | way.registered) == 0) return;
  events_->evicted(now, {way.line, 1, way.registered != 0}, at, why);
}

DenovoL1::Answer DenovoL1::hit(unsigned at, const Access& a) {
  way_[at].used = ++uses_;
  if (events_ != nullptr) events_->used(at, a.warp);
  return {Outcome::Hit, {}, false};
}

DenovoL1::Answer DenovoL1::load(Cycle now, const Access& a, bool fresh, bool can_send) {
  const unsigned at = find(a.line);
  WordMask have = 0;
  if (at != kAbsent)
    have =
        fresh ? way_[at].registered : static_cast<WordMask>(way_[at].registered | way_[at].valid);
  const WordMask missing = without(a.words, have);
  return missing == 0 ? hit(at, a) : ask(now, a, missing, false, can_send);
}

DenovoL1::Answer DenovoL1::atomic(Cycle now, const Access& a, bool can_send) {
  const unsigned at = find(a.line);
  const WordMask missing = at == kAbsent ? a.words : without(a.words, way_[at].registered);
  if (missing != 0) return ask(now, a, missing, true, can_send);
  note_write(now, a.line);
  return hit(at, a);
}

/// The access waits for these words; those that nobody has asked for yet are asked for.
DenovoL1::Answer DenovoL1::ask(Cycle now, const Access& access, WordMask missing, bool own,
                               bool can_send) {
  if (in_write_back(access.line) != 0) return blocked(Refusal::WriteBack);
  WordMask coming = 0;
  Entry *joined = nullptr, *free = nullptr;
  for (Entry& entry : entry_) {
    if (!entry.used) {
      if (free == nullptr) free = &entry;
    } else if (entry.line == access.line && (entry.owns || (!own && entry.epoch == epoch_)) &&
               (entry.left & missing) != 0) {
      coming |= entry.left;
      if (joined == nullptr) joined = &entry;
    }
  }
  const WordMask asked = without(missing, coming);
  if (asked == 0) {
    if (joined->waiting.size() >= merges_) return blocked(Refusal::Merge);
    joined->waiting.push_back({access.waiter, missing, own, epoch_});
    return {Outcome::Miss, {}, false};
  }
  if (free == nullptr) return blocked(Refusal::Mshr);
  if (!can_send) return blocked(Refusal::MissQueue);
  if (own) {
    unsigned at = find(access.line);
    if (at == kAbsent) at = free_way(now, access.line, access.kernel);
    if (at == kAbsent) return blocked(Refusal::Way);
    if (events_ != nullptr) events_->used(at, access.warp);
    way_[at].owning |= asked;
    ++way_[at].pins;
  }
  free->line = access.line;
  free->epoch = epoch_;
  free->left = asked;
  free->used = true;
  free->owns = own;
  free->waiting.assign(1, {access.waiter, missing, own, epoch_});
  ++entries_used_;
  max_mshrs_.add(access.kernel, entries_used_);
  if (events_ != nullptr)
    events_->requested(static_cast<unsigned>(free - entry_.data()), access.warp);
  requests_.push(request(own ? MessageKind::Own : MessageKind::Read, access.line, asked,
                         static_cast<unsigned>(free - entry_.data()), access.kernel));
  return {Outcome::Miss, {}, true};
}

DenovoL1::Answer DenovoL1::store(Cycle now, const Access& access, bool can_send) {
  unsigned at = find(access.line);
  WordMask lost = access.words, unsure = 0;  // to be registered; registered, but not acknowledged
  if (at != kAbsent) {
    if ((access.words & way_[at].owning) != 0) return blocked(Refusal::Mshr);
    lost = without(access.words, way_[at].registered);
    unsure = way_[at].pins == 0
                 ? WordMask{0}
                 : without(access.words & store_buffer_.under_way(access.line), lost);
  }
  if (lost == 0) {
    bool known = true;
    if (unsure != 0 && !store_buffer_.join(access.line, unsure, access.waiter, known))
      return blocked(Refusal::StoreBuffer);
    note_write(now, access.line);
    Answer answer = hit(at, access);
    if (!known) answer.outcome = Outcome::Miss;
    return answer;
  }
  if (unsure != 0) return blocked(Refusal::StoreBuffer);
  if (in_write_back(access.line) != 0) return blocked(Refusal::WriteBack);
  if (!store_buffer_.takes(access.line)) return blocked(Refusal::StoreBuffer);
  if (at == kAbsent) {
    if (!can_send) return blocked(Refusal::MissQueue);  // it may push out registered words
    at = free_way(now, access.line, access.kernel);
    if (at == kAbsent) return blocked(Refusal::Way);
  }
  if (events_ != nullptr) events_->used(at, access.warp);
  Way& way = way_[at];
  way.registered |= access.words;
  way.valid = without(way.valid, access.words);
  way.used = ++uses_;
  const StoreBuffer::Taken taken =
      store_buffer_.put(access.line, lost, access.waiter, access.kernel);
  if (taken == StoreBuffer::Taken::Fresh) {
    ++way.pins;
    ++registrations_;
  }
  return {taken == StoreBuffer::Taken::AlreadyWaitedFor ? Outcome::Hit : Outcome::Miss,
          {},
          taken == StoreBuffer::Taken::Fresh};
}

void DenovoL1::send_registration() {
  const StoreBuffer::OutgoingRequest r = store_buffer_.send();
  requests_.push(request(MessageKind::Register, r.line, r.parts, r.entry, r.kernel));
}

void DenovoL1::acquire(Cycle now) {
  for (unsigned at = 0; at < way_.size(); ++at) {
    Way& way = way_[at];
    if (!way.present) continue;
    if (writes_ != nullptr && way.valid != 0 &&
        !writes_->since(RegionWrites::region_of_line(way.line), acquired_)) {
      kept_ += static_cast<unsigned>(std::popcount(way.valid));
      continue;
    }
    if (events_ != nullptr && way.registered == 0)
      report_evicted(now, at, policy::L1Eviction::Why::Flushed);
    way.valid = 0;
    way.present = way.registered != 0 || way.pins != 0;
  }
  acquired_ = now;
  ++epoch_;
  if (events_ != nullptr) events_->flushed(now);
}

/// A row of accesses to one region is one note, of the last of them. What becomes registered is
/// noted when it is: until then the bank may give the old word to others, with words that they ask
/// for.
void DenovoL1::add_write(Cycle now, std::uint32_t line) {
  const std::uint32_t region = RegionWrites::region_of_line(line);
  if (!written_.empty() && written_.back().region == region) written_.back().at = now;
  else written_.push_back({region, now});
}

void DenovoL1::lose(std::uint32_t line, WordMask words) {
  const unsigned at = find(line);
  if (at == kAbsent) return;
  way_[at].registered = without(way_[at].registered, words);
}

// --- messages --------------------------------------------------------------------------------

/// What an answer leaves in the cache.
void DenovoL1::install(Cycle now, const Entry& e, const Message& m) {
  unsigned at = find(m.line);
  if (e.owns) {  // its way is pinned
    Way& way = way_[at];
    way.registered |= m.words;
    way.valid = without(way.valid, m.words);
    way.owning = without(way.owning, m.words);
    way.used = ++uses_;
    note_write(now, m.line);
    return;
  }
  if (e.epoch != epoch_) return;
  const bool fresh = at == kAbsent;
  if (fresh) at = free_way(now, m.line, m.kernel);
  if (at == kAbsent) return;  // every way is pinned: the loads have their data all the same
  way_[at].valid |= without(m.words, static_cast<WordMask>(way_[at].registered | way_[at].owning));
  way_[at].used = ++uses_;
  if (fresh && events_ != nullptr) events_->used(at, events_->requester(m.tag));
}

/// Words that are on their way to us are answered when they are there.
void DenovoL1::asked_by_bank(const Message& m) {
  const unsigned at = find(m.line);
  const WordMask later =
      at == kAbsent ? WordMask{0} : static_cast<WordMask>(m.words & way_[at].owning);
  if (later != 0) {
    deferred_.push_back(m);
    deferred_.back().words = later;
  }
  if (later != m.words) answer(m, without(m.words, later));
}

void DenovoL1::answer_deferred(std::uint32_t line) {
  if (deferred_.empty()) return;
  std::vector<Message> again;
  std::erase_if(deferred_, [&](const Message& m) {
    if (m.line == line) again.push_back(m);
    return m.line == line;
  });
  for (const Message& m : again) asked_by_bank(m);
}

void DenovoL1::answer(const Message& m, WordMask words) {
  const unsigned at = find(m.line);
  const WordMask here = at == kAbsent ? WordMask{0} : way_[at].registered;
  Message out = m;
  out.words = words;
  out.peer = static_cast<std::uint16_t>(sm_);
  out.kind = m.kind == MessageKind::Forward      ? MessageKind::Remote
             : m.kind == MessageKind::Take       ? MessageKind::Owned
             : m.kind == MessageKind::Invalidate ? MessageKind::Registered
                                                 : MessageKind::Recalled;
  RADDLE_ASSERT(m.kind == MessageKind::Invalidate ||
                without(words, static_cast<WordMask>(here | in_write_back(m.line))) == 0);
  if (m.kind != MessageKind::Forward && at != kAbsent) {
    way_[at].registered = without(here, words);
    if (m.kind == MessageKind::Invalidate) way_[at].valid = without(way_[at].valid, words);
  }
  responses_.push(out);
}

bool DenovoL1::idle() const {
  return entries_used_ == 0 && registrations_ == 0 && write_backs_used_ == 0 && deferred_.empty() &&
         requests_.empty() && write_backs_.empty() && responses_.empty();
}

DenovoL1::Words DenovoL1::words(std::uint32_t line) const {
  const unsigned at = find(line);
  if (at == kAbsent) return {};
  return {way_[at].valid, way_[at].registered, way_[at].owning};
}

}  // namespace raddle::timing
