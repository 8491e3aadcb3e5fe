#include "raddle/exec/slow/bulk_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {
constexpr u64 kLine = trace::kLineBytes, kWatched = 16;  // bytes; of what watchers are told
}  // namespace

void BulkTraffic::fail(unsigned lane, const std::string& what) const {
  const Runner& runner = *static_cast<const Runner*>(run_.context->owner);
  throw RunError(fmt::format("kernel {}: {} at {}, {}", runner.kernel().title, what,
                             runner.location(run_.record->inst),
                             runner.thread_text(*run_.context->warp, lane)));
}

void BulkTraffic::align(unsigned lane, std::string_view what, u64 value, u64 unit) const {
  if (value % unit != 0)
    fail(lane, fmt::format("bulk copy whose {} {:#x} is no multiple of {}", what, value, unit));
}

char* BulkTraffic::global(unsigned lane, Address address, u64 bytes) {
  const Context& context = *run_.context;
  Runner& runner = *static_cast<Runner*>(context.owner);
  const bool store = access_ == Access::Store;
  for (u64 done = 0; done < bytes;) {  // whole allocations are in sight line by line
    const Address at = address + done;
    const auto part = static_cast<unsigned>(std::min(kLine - at % kLine, bytes - done));
    const bool valid = at >= DeviceMemory::kBase && runner.memory().valid(at, part);
    if (!valid) {
      const Stray stray = runner.strays(at, part);
      if (stray != Stray::Again) {
        const std::string text = fmt::format(
            "kernel {}: bulk copy of {} bytes {} global address {:#x}, which leaves all "
            "allocations at {:#x}, at {}, {}",
            runner.kernel().title, bytes, store ? "to" : "from", address, at,
            runner.location(run_.record->inst), runner.thread_text(*context.warp, lane));
        if (stray == Stray::Fault) throw RunError(text);
        runner.warn_of_stray(text);
      }
    }
    done += part;
  }
  add_lines(lane, address, bytes);
  if (RecordWatcher* watcher = runner.watcher(); watcher != nullptr)
    for (u64 done = 0; done < bytes; done += kWatched) {
      const auto part = static_cast<unsigned>(std::min(kWatched, bytes - done));
      store ? watcher->slow_store(context, lane, address + done, part)
            : watcher->slow_load(context, lane, address + done, part);
    }
  return context.global + (address - DeviceMemory::kBase);
}

char* BulkTraffic::shared(unsigned lane, u64 offset, u64 bytes) {
  const u32 maximum = ~u32{0};
  char* const place =
      bytes < maximum ? shared_place(run_.context, offset, static_cast<unsigned>(bytes)) : nullptr;
  if (place == nullptr)
    fail(lane, fmt::format("bulk copy of {} bytes at shared address {:#x}, which leaves the "
                           "block's {} bytes or names no block of the cluster",
                           bytes, offset, run_.context->shared_bytes));
  shared_bytes_ += bytes;
  return place;
}

void BulkTraffic::add_lines(unsigned lane, Address address, u64 bytes) {
  for (u64 done = 0; done < bytes;) {
    const Address at = address + done;
    const u64 part = std::min(kLine - at % kLine, bytes - done);
    const u64 first = at % kLine / 4, last = (at % kLine + part - 1) / 4;
    const u32 words = static_cast<u32>(((u64{2} << last) - 1) & ~((u64{1} << first) - 1));
    const auto line = static_cast<u32>(at / kLine);
    if (!lines_.empty() && lines_.back().line == line) {
      lines_.back().words |= words;
      lines_.back().lanes |= 1u << lane;
    } else {
      lines_.push_back({line, words, 1u << lane});
    }
    done += part;
  }
}

void BulkTraffic::complete(unsigned lane, u64 object, u64 bytes) {
  if (const std::optional<u32> own = complete_transactions(run_, lane, object, bytes))
    objects_.add({.object = *own, .value = static_cast<u32>(bytes), .lanes = 1u << lane});
}

/// When all has come, the block's barrier objects are told.
void BulkTraffic::put_end() {
  if (objects_.all().empty()) return;
  std::vector<trace::Transaction> packed;
  for (const trace::ObjectChange& change : objects_.all()) packed.push_back(change.packed());
  const auto count = static_cast<unsigned>(packed.size());
  RADDLE_ASSERT(count <= kLanes);
  put(run_.context->aliases[run_.record->inst], packed.data(), count, count);
}

void BulkTraffic::put(u32 inst, const trace::Transaction* lines, unsigned count, unsigned field) {
  const auto head = trace::Record::make(inst, 1, field, run_.mask);
  words_.push_back(head.head);
  words_.push_back(head.mask);
  for (unsigned i = 0; i < count; ++i) {
    words_.push_back(lines[i].line);
    words_.push_back(lines[i].words);
    words_.push_back(lines[i].lanes);
  }
  ++records_;
}

/// Few words go the usual way; many wait until the warp stops, which it does soon.
void BulkTraffic::hand_over() {
  Context& c = *run_.context;
  c.warp_instructions += records_;
  c.thread_instructions += u64{records_} * static_cast<u32>(std::popcount(run_.mask));
  constexpr std::size_t kAtOnce = 400;  // words; what comes after them needs some room too
  static_assert(kAtOnce < Runner::kSlackWords / 3 * 2);
  if (words_.size() <= kAtOnce) {
    c.out = std::copy(words_.begin(), words_.end(), c.out);
  } else {
    auto& late = static_cast<WarpState*>(c.warp)->late;
    late.insert(late.end(), words_.begin(), words_.end());
    c.out_limit = c.out;
  }
  if (access_ == Access::Store && c.live != 0) c.out_limit = c.out;
}

void BulkTraffic::write() {
  std::size_t done = 0;
  do {
    const auto count =
        static_cast<unsigned>(std::min<std::size_t>(lines_.size() - done, trace::kMaxTransactions));
    put(run_.record->inst, lines_.data() + done, count, count);
    done += count;
  } while (done < lines_.size());
  put_end();
  hand_over();
}

void BulkTraffic::write_rows(bool distant) {
  constexpr u64 kRow = 128;  // bytes of all banks
  constexpr unsigned kMaxRows = trace::kMaxTransactions - trace::kDistant;
  u64 left = std::max<u64>(1, (shared_bytes_ + kRow - 1) / kRow);
  while (left != 0) {
    const auto rows = static_cast<unsigned>(std::min<u64>(left, kMaxRows));
    put(run_.record->inst, nullptr, 0, rows + (distant ? trace::kDistant : 0));
    left -= rows;
  }
  put_end();
  hand_over();
}

}  // namespace raddle::exec
