// Memory accesses of slow instructions: bounds, alignment, and the op stream.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {
/// The 4-byte words of a line that an access touches.
u32 words_of(u64 address, unsigned bytes) {
  const u32 count = std::max(bytes, 4u) / 4;
  return ((1u << count) - 1) << (address >> 2 & 31);
}
}  // namespace

std::string SlowAccess::fault(unsigned lane, u64 address, unsigned bytes,
                              std::string_view why) const {
  const Runner& runner = *static_cast<const Runner*>(run_.context->owner);
  const char* memory = space_ == ptx::Space::Shared   ? "shared"
                       : space_ == ptx::Space::Global ? "global"
                                                      : "generic";
  return fmt::format("kernel {}: {} {}-byte {} {} address {:#x} at {}, {}", runner.kernel().title,
                     why, bytes, store_ ? "store to" : "load from", memory, address,
                     runner.location(run_.record->inst),
                     runner.thread_text(*run_.context->warp, lane));
}

void SlowAccess::fail(unsigned lane, u64 address, unsigned bytes, std::string_view why) const {
  throw RunError(fault(lane, address, bytes, why));
}

void SlowAccess::resolve(unsigned lane, u64 address) {
  if (address >= DeviceMemory::kBase) {
    space_ = ptx::Space::Global;
  } else if (address - kSharedWindow < kWindowBytes) {
    space_ = ptx::Space::Shared;
    window_ = kSharedWindow;
    aliased_ = true;
  } else {
    fail(lane, address, 1, "neither global nor shared:");
  }
}

char* SlowAccess::at(unsigned lane, u64 address, unsigned bytes) {
  RADDLE_ASSERT(lane < kLanes && std::has_single_bit(bytes) && bytes <= 16);
  if (space_ == ptx::Space::Generic) resolve(lane, address);
  return space_ == ptx::Space::Shared ? shared(lane, address - window_, bytes)
                                      : global(lane, address, bytes);
}

char* SlowAccess::global(unsigned lane, u64 address, unsigned bytes) {
  const Context& c = *run_.context;
  const u64 x = address - DeviceMemory::kBase;
  if (x % bytes != 0) fail(lane, address, bytes, "misaligned");
  if (address < DeviceMemory::kBase || x >= c.extent || (x & 127) + bytes > c.valid[x >> 7]) {
    const auto& runner = *static_cast<const Runner*>(c.owner);
    const Stray stray = runner.strays(address, bytes);
    if (stray == Stray::Fault) fail(lane, address, bytes, "out-of-bounds");
    if (stray == Stray::First) runner.warn_of_stray(fault(lane, address, bytes, "out-of-bounds"));
  }
  const u32 line = static_cast<u32>(address >> 7);
  unsigned k = transaction_count_;
  while (k > 0 && transactions_[k - 1].line != line) --k;
  if (k == 0 && transaction_count_ < transactions_.size()) {
    transactions_[transaction_count_++] = {line, 0, 0};
    k = transaction_count_;
  }
  if (k > 0) {
    transactions_[k - 1].words |= words_of(x, bytes);
    transactions_[k - 1].lanes |= 1u << lane;
  }
  if (RecordWatcher* w = static_cast<Runner*>(c.owner)->watcher(); w != nullptr)
    store_ ? w->slow_store(c, lane, address, bytes) : w->slow_load(c, lane, address, bytes);
  return c.global + x;
}

char* SlowAccess::shared(unsigned lane, u64 address, unsigned bytes) {
  const Context& c = *run_.context;
  if (address % bytes != 0) fail(lane, address, bytes, "misaligned");
  char* const place = shared_place(&c, address, bytes);
  if (place == nullptr) fail(lane, address, bytes, "out-of-bounds");
  for (u64 word = address / 4; word * 4 < address + bytes; ++word) {
    u32 h = static_cast<u32>(word * 0x9e3779b1u) >> 25;
    unsigned tried = 0;
    while (seen_[h] != 0 && seen_[h] != word + 1 && ++tried < seen_.size()) h = (h + 1) & 127;
    if (seen_[h] == word + 1) continue;  // broadcast
    seen_[h] = word + 1;                 // a full table forgets: counts a word again at worst
    std::uint8_t& load = load_[word % 32];
    load = static_cast<std::uint8_t>(std::min<unsigned>(load + 1u, 63));
  }
  const bool own = address < c.shared_bytes;
  if (RecordWatcher* w = static_cast<Runner*>(c.owner)->watcher(); w != nullptr && own) {
    const u32 at = static_cast<u32>(address);
    store_ ? w->slow_shared_store(c, lane, at, bytes) : w->slow_shared_load(c, lane, at, bytes);
  }
  return place;
}

void SlowAccess::write(u32 mask, unsigned bank_cycles) {
  Context& c = *run_.context;
  const u32 inst = aliased_ ? c.aliases[run_.record->inst] : run_.record->inst;
  const u32 count = is_shared()
                        ? std::max<u32>(*std::max_element(load_.begin(), load_.end()), bank_cycles)
                        : transaction_count_;
  RADDLE_ASSERT(mask != 0 && count <= trace::kMaxTransactions);
  const auto head = trace::Record::make(inst, 1, count, mask);
  c.out[0] = head.head;
  c.out[1] = head.mask;
  c.out += 2;
  ++c.warp_instructions;
  c.thread_instructions += static_cast<u32>(__builtin_popcount(mask));
  if (!is_shared()) {
    static_assert(sizeof(Transaction) == sizeof(trace::Transaction));
    std::memcpy(c.out, transactions_.data(), transaction_count_ * sizeof(Transaction));
    c.out += transaction_count_ * trace::kTransactionWords;
  }
  if (store_ && c.live != 0) c.out_limit = c.out;
}

void slow(Context* c, const Record* ip, char* frame, u32 mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  const auto& warp = *static_cast<const WarpState*>(c->warp);
  const auto& list = runner.running_code(warp).slow;
  RADDLE_ASSERT(static_cast<std::size_t>(ip->imm) < list.size());
  list[static_cast<std::size_t>(ip->imm)]->run({c, ip, frame, mask});
}

}  // namespace raddle::exec
