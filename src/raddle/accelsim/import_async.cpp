// What runs beside its warp (copies, products of warpgroups), and barriers: as exec puts the PTX
// instructions of the same kind into the op stream.
#include <algorithm>
#include <bit>

#include "raddle/accelsim/importer.h"
#include "raddle/base/error.h"

namespace raddle::accelsim {

using trace::BarrierKind;
using trace::ObjectAction;
using trace::OpKind;
using Kind = BarrierEvent::Kind;

namespace {

constexpr unsigned kClusterBarrier = 15;                      // as exec has it
constexpr std::uint64_t kRankBytes = std::uint64_t{1} << 24;  // of a block in the cluster's window
constexpr std::uint64_t kMaxRanks = 16;

unsigned groups_left(std::int64_t immediate) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(immediate, 0, trace::kMaxGroupsLeft))
         << trace::kGroupsLeft;
}

/// The object that SYNCS.EXCH.64 writes has the count of arrivals in bits 1 to 20, negated.
std::uint32_t arrivals_of_init(std::uint64_t value) {
  constexpr std::uint32_t kMask = (1u << 20) - 1;
  return (0u - static_cast<std::uint32_t>(value >> 1)) & kMask;
}

/// Of what is waited for: bit 31 of a register (nvcc shifts a parity there), or the parity alone.
std::uint32_t parity_of(std::uint64_t value) {
  return value == 1 || (value >> 31 & 1) != 0 ? 1 : 0;
}

Kind kind_of(ObjectAction action) {
  switch (action) {
    case ObjectAction::Init:
      return Kind::Init;
    case ObjectAction::Come:
      return Kind::Come;
    case ObjectAction::Copies:
      return Kind::Copies;
    case ObjectAction::Wait:
      return Kind::Wait;
    default:
      return Kind::Arrive;
  }
}

}  // namespace

void Importer::beside(std::uint32_t at, LaneMask mask, Fields& fields) {
  const Effect effect = code_.line(at).effect;
  if (effect == Effect::Copy) return copy(at, mask, fields);
  if (effect == Effect::Object || effect == Effect::CopiesArrive) return objects(at, mask, fields);
  const std::int64_t immediate = read_tail(fields, header_.format.version_6).first;
  switch (effect) {
    case Effect::Marker:
      ++markers_;
      launch_->thread_instructions -= static_cast<unsigned>(std::popcount(mask));
      return;
    case Effect::Product:
      return product(at, mask);
    case Effect::Warpgroup:
      return warpgroup(at, mask, immediate);
    case Effect::EndsCopies:
    case Effect::EndsBulk:
      if (mask == 0) return inert(at, mask);
      groups_ = effect == Effect::EndsCopies ? Groups::Copies : Groups::Bulk;
      return put(at, 0, mask);
    case Effect::Waits:
      return wait_for_groups(at, mask, immediate);
    case Effect::ClusterArrive:
    case Effect::ClusterWait: {
      const bool waits = effect == Effect::ClusterWait && mask != 0;
      if (mask != 0) event({.kind = waits ? Kind::ClusterWait : Kind::ClusterArrive});
      return put_barrier(at, kClusterBarrier, waits ? BarrierKind::Sync : BarrierKind::Warp);
    }
    default:
      return put(at, 0, mask);
  }
}

// Older tracers do not say which barrier nor how many threads: all warps of the block meet. From
// version 6 on an immediate is the barrier and a second one the threads, or, where a register is
// named, its value and the immediate.
void Importer::barrier(std::uint32_t at, LaneMask mask, Fields& fields) {
  const StaticLine& line = code_.line(at);
  const Tail tail = read_tail(fields, header_.format.version_6);
  const bool arrives = line.mnemonic.starts_with("BAR.ARV");
  std::uint64_t id = 0, threads = 0;
  if (header_.format.version_6) {
    const bool by_register = tail.values && line.destinations != 0 && tail.second == 0;
    threads = static_cast<std::uint64_t>(by_register ? tail.first : tail.second);
    id = by_register
             ? read_values(fields, 0)[static_cast<unsigned>(std::countr_zero(mask | 1u << 31))]
             : static_cast<std::uint64_t>(tail.first);
  }
  if (mask == 0) return put_barrier(at, 0, BarrierKind::Warp);
  if (id > 15) text_.fail("expected a barrier from 0 to 15, found " + std::to_string(id));
  if (threads > 1024 || threads % kLanes != 0)
    text_.fail("expected a barrier of whole warps, at most 1024 threads, found " +
               std::to_string(threads));
  const auto warps = static_cast<unsigned>(threads / kLanes);
  event({.kind = arrives ? Kind::Join : Kind::Sync,
         .object = static_cast<std::uint16_t>(id),
         .count = warps});
  put_barrier(at, static_cast<unsigned>(id), arrives ? BarrierKind::Arrive : BarrierKind::Sync,
              warps);
}

// --- products -----------------------------------------------------------------------------------

void Importer::product(std::uint32_t at, LaneMask mask) {
  put(at, 0, mask);
  if (mask == 0) return;
  open_products_ = true;
  if (code_.line(at).ends_group) end_products(at);
}

/// An instruction of its own, as in PTX.
void Importer::end_products(std::uint32_t at) {
  put_barrier(code_.as(at, OpKind::Barrier, trace::kEndsProducts), 0, BarrierKind::Warp);
  open_products_ = false;
}

// Older tracers do not say where groups end: at the next ARRIVE or DEPBAR then.
void Importer::warpgroup(std::uint32_t at, LaneMask mask, std::int64_t immediate) {
  const bool waits = code_.line(at).mnemonic.starts_with("WARPGROUP.DEPBAR");
  if (mask == 0) return inert(at, mask);
  if (!header_.format.version_6 && open_products_) {
    notes_.rules.insert(
        "a group of HGMMA ends at the next WARPGROUP.ARRIVE or DEPBAR: tracers "
        "before version 6 do not say where");
    end_products(at);
    if (!waits) return;
  }
  if (!waits) return put(at, 0, mask);
  const unsigned what = immediate <= 0 ? trace::kWaitsForProducts
                                       : trace::kWaitsForProductGroups | groups_left(immediate);
  put_barrier(code_.become(at, OpKind::Barrier, what), 0, BarrierKind::Warp);
}

// --- copies -------------------------------------------------------------------------------------

void Importer::wait_for_groups(std::uint32_t at, LaneMask mask, std::int64_t immediate) {
  if (groups_ == Groups::None || mask == 0) return put(at, 0, mask);
  const bool bulk = groups_ == Groups::Bulk;
  if (bulk)
    notes_.rules.insert(
        "DEPBAR behind UTMACMDFLUSH waits until the sources of bulk stores have "
        "been read (cp.async.bulk.wait_group.read): traces do not tell it from a "
        "wait for the stores");
  const unsigned what =
      (bulk ? trace::kWaitsForBulkReads : trace::kWaitsForGroups) | groups_left(immediate);
  put(code_.become(at, OpKind::Fence, what), 0, mask);
}

/// What `lines_` has, as many records as it takes.
void Importer::put_lines(std::uint32_t at, LaneMask lane) {
  std::size_t done = 0;
  do {
    const auto count =
        static_cast<unsigned>(std::min<std::size_t>(lines_.size() - done, trace::kMaxTransactions));
    put(at, count, lane);
    for (unsigned i = 0; i < count; ++i) {
      const trace::Transaction& line = lines_[done + i];
      batch_.words.insert(batch_.words.end(), {line.line, line.words, line.lanes});
    }
    done += count;
  } while (done < lines_.size());
}

// One thread issues it, whatever the mask. Each address stands for as many bytes as the width says;
// `bytes` may or may not have those outside of the tensor, of which barrier objects hear, too.
void Importer::copy(std::uint32_t at, LaneMask mask, Fields& fields) {
  read_copy(fields, copied_);
  read_tail(fields, true);
  if (mask == 0) return put(at, 0, 0);
  const LaneMask lane = mask & (0 - mask);
  const trace::StaticInst& inst = code_.line(at).inst;
  const std::uint64_t width = code_.line(at).bytes, count = copied_.elements.size();
  std::uint64_t unit = width, reported = copied_.bytes;
  if (width * count == copied_.bytes) reported += copied_.outside;
  else if (width * count + copied_.outside != copied_.bytes && count != 0) {
    unit = (copied_.bytes + count - 1) / count;
    notes_.rules.insert(
        "an address of a bulk or tensor copy stands for its bytes divided by the "
        "number of addresses where the width does not say so");
  }
  const bool loads = inst.kind == OpKind::LoadGlobal || inst.kind == OpKind::StoreShared;
  if (inst.kind == OpKind::StoreShared) {
    constexpr std::uint64_t kRow = 128, kMaxRows = trace::kMaxTransactions - trace::kDistant;
    std::uint64_t left = std::max<std::uint64_t>(1, (copied_.bytes + kRow - 1) / kRow);
    for (std::uint64_t rows = 0; left != 0; left -= rows) {
      rows = std::min(left, kMaxRows);
      put(at, trace::kDistant + static_cast<unsigned>(rows), lane);
    }
  } else {
    lines_.clear();
    constexpr std::uint64_t kLine = trace::kLineBytes;
    for (const std::uint64_t element : copied_.elements) {
      for (std::uint64_t done = 0; done < unit;) {
        const std::uint64_t place = regions_.map(element + done);
        const std::uint64_t part = std::min(kLine - place % kLine, unit - done);
        const std::uint64_t first = place % kLine / 4, last = (place % kLine + part - 1) / 4;
        const auto words = static_cast<std::uint32_t>(((std::uint64_t{2} << last) - 1) &
                                                      ~((std::uint64_t{1} << first) - 1));
        const auto line = static_cast<std::uint32_t>(place / kLine);
        if (!lines_.empty() && lines_.back().line == line) lines_.back().words |= words;
        else lines_.push_back({line, words, lane});
        done += part;
      }
    }
    put_lines(at, lane);
  }
  if (loads) report_bytes(at, lane, reported);
}

/// The barrier objects of all blocks that get the copy hear of its bytes when it has come.
void Importer::report_bytes(std::uint32_t at, LaneMask lane, std::uint64_t bytes) {
  const auto [rank, object] = object_at(copied_.object);
  const std::uint32_t blocks = copied_.blocks ? *copied_.blocks : 1u << rank;
  for (std::uint32_t m = blocks; m != 0; m &= m - 1)
    event({.kind = Kind::Come,
           .rank = static_cast<std::uint8_t>(std::countr_zero(m)),
           .object = object,
           .bytes = static_cast<std::uint32_t>(bytes)});
  const trace::ObjectChange change{
      .object = object, .value = static_cast<std::uint32_t>(bytes), .lanes = lane};
  if ((blocks >> barriers_.rank & 1) == 0) return;
  const std::uint32_t end =
      code_.as(at, OpKind::BarrierObject, static_cast<unsigned>(ObjectAction::Copied),
               code_.line(at).inst.copy);
  put_changes(end, lane, {&change, 1});
}

// --- barrier objects ----------------------------------------------------------------------------

std::pair<std::uint8_t, std::uint16_t> Importer::object_at(std::uint64_t address) const {
  constexpr std::uint64_t kMaxOffset = std::uint64_t{1} << (3 + trace::ObjectChange::kObjectBits);
  std::uint64_t at = address;
  if (header_.shared_base != 0 && at - header_.shared_base < kMaxRanks * kRankBytes)
    at -= header_.shared_base;
  const std::uint64_t rank = at / kRankBytes, offset = at % kRankBytes;
  if (rank >= kMaxRanks || offset >= kMaxOffset || offset % 8 != 0)
    text_.fail(
        "expected a barrier object at a multiple of 8 in 256 KiB of shared memory of blocks "
        "0 to 15, found address " +
        std::to_string(address));
  return {static_cast<std::uint8_t>(rank), static_cast<std::uint16_t>(offset / 8)};
}

void Importer::put_changes(std::uint32_t at, LaneMask mask,
                           std::span<const trace::ObjectChange> changes) {
  put(at, static_cast<unsigned>(changes.size()), mask);
  for (const trace::ObjectChange& change : changes) {
    const trace::Transaction packed = change.packed();
    batch_.words.insert(batch_.words.end(), {packed.line, packed.words, packed.lanes});
  }
}

void Importer::objects(std::uint32_t at, LaneMask mask, Fields& fields) {
  const StaticLine& line = code_.line(at);
  const Tail tail = read_tail(fields, true);
  if (mask == 0) return put(at, 0, 0);
  std::array<std::uint64_t, kLanes> values{};
  if (line.object.reads_register()) {
    if (!tail.values || line.sources == 0) {
      notes_.rules.insert("SYNCS has an effect where the trace has the values of its registers");
      ++notes_.without_effect[line.mnemonic];
      return inert(at, mask);
    }
    // Destinations come first, then the address, then the operand.
    values = read_values(fields, line.destinations + std::min<unsigned>(1, line.sources - 1u));
  }
  change_objects(at, mask, values);
}

void Importer::change_objects(std::uint32_t at, LaneMask mask,
                              const std::array<std::uint64_t, kLanes>& values) {
  constexpr std::uint64_t kMaxNumber = (1u << 20) - 1;  // of arrivals and bytes, as PTX has it
  const ObjectUse use = code_.line(at).object;
  const Kind kind = kind_of(use.action);
  const std::size_t first = barriers_.warps.back().size();
  std::vector<trace::ObjectChange> own;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const std::uint64_t value = values[static_cast<unsigned>(std::countr_zero(m))];
    const auto number = [&](std::uint8_t how) -> std::uint32_t {
      if (how != ObjectUse::kOfRegister) return how;
      if (kind == Kind::Init) return arrivals_of_init(value);
      if (value > kMaxNumber)
        text_.fail("expected at most 1048575 arrivals or bytes, found " + std::to_string(value));
      return static_cast<std::uint32_t>(value);
    };
    const auto [rank, object] = object_at(addresses_[static_cast<unsigned>(std::countr_zero(m))]);
    BarrierEvent one{.kind = kind, .rank = rank, .object = object};
    one.count = kind == Kind::Wait ? parity_of(value) : number(use.arrivals);
    one.bytes = kind == Kind::Wait ? 0 : number(use.bytes);
    change_object(one, first, m & (0 - m), own);
  }
  if (kind == Kind::Wait) number_waits(first, own);
  put_changes(at, mask, own);
}

void Importer::change_object(BarrierEvent one, std::size_t first, LaneMask lane,
                             std::vector<trace::ObjectChange>& own) {
  std::vector<BarrierEvent>& events = barriers_.warps.back();
  const auto known = std::find_if(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(),
                                  [&](const BarrierEvent& other) {
                                    return other.rank == one.rank && other.object == one.object;
                                  });
  const bool fresh = known == events.end();
  const bool adds = !fresh && one.kind != Kind::Init && one.kind != Kind::Wait;
  if (fresh) events.push_back(one);
  if (adds) {
    known->count += one.count;
    known->bytes += one.bytes;
  }
  if (one.rank != barriers_.rank) return;
  if (one.kind == Kind::Wait) one.count = 0;  // its parity
  if (fresh)
    own.push_back({.object = one.object, .arrivals = one.count, .value = one.bytes, .lanes = lane});
  const auto own_change = std::ranges::find(own, one.object, &trace::ObjectChange::object);
  own_change->lanes |= lane;
  if (!adds) return;
  own_change->arrivals += one.count;
  own_change->value += one.bytes;
}

void Importer::number_waits(std::size_t first, std::vector<trace::ObjectChange>& own) {
  std::vector<BarrierEvent>& events = barriers_.warps.back();
  const auto at = [&](std::size_t i) { return events.begin() + static_cast<std::ptrdiff_t>(i); };
  const bool same =
      latest_wait_.end == first &&
      std::equal(at(latest_wait_.begin), at(first), at(first), events.end(),
                 [](const BarrierEvent& a, const BarrierEvent& b) {
                   return a.rank == b.rank && a.object == b.object && a.count == b.count;
                 });
  for (auto wait = at(first); wait != events.end(); ++wait) {
    wait->bytes = static_cast<std::uint32_t>(launch_->waits.size());
    launch_->waits.emplace_back();
    for (trace::ObjectChange& own_change : own)
      if (wait->rank == barriers_.rank && own_change.object == wait->object)
        own_change.value = wait->bytes;
  }
  if (same) events.erase(at(latest_wait_.begin), at(first));
  else latest_wait_.begin = first;
  latest_wait_.end = events.size();
}

void Importer::keep_barriers() {
  const auto is_of_object = [](const BarrierEvent& event) { return event.kind <= Kind::Wait; };
  const bool any = std::ranges::any_of(barriers_.warps, [&](const auto& events) {
    return std::ranges::any_of(events, is_of_object);
  });
  if (!any) return;
  if (in_cluster_) clusters_[cluster_].push_back(std::move(barriers_));
  else alone_.push_back(std::move(barriers_));
}

// Where two blocks of a cluster have one rank, the trace's clusters are none (the tracer writes
// 0,0,0 for all blocks of machines that have none).
void Importer::rehearse() {
  const auto one_by_one = [&](std::vector<BlockBarriers>& blocks) {
    for (BlockBarriers& block : blocks) {
      std::vector<BlockBarriers> one;
      one.push_back(std::move(block));
      notes_.unended_waits += Rehearsal(std::move(one)).run(launch_->waits);
    }
  };
  for (auto& [id, blocks] : clusters_) {
    std::ranges::sort(blocks, {}, &BlockBarriers::rank);
    if (std::ranges::adjacent_find(blocks, {}, &BlockBarriers::rank) != blocks.end())
      one_by_one(blocks);
    else notes_.unended_waits += Rehearsal(std::move(blocks)).run(launch_->waits);
  }
  one_by_one(alone_);
}

}  // namespace raddle::accelsim
