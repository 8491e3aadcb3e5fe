#include "raddle/exec/run/observation.h"

#include <cstring>
#include <iterator>
#include <string_view>

#include "raddle/exec/run/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"
#include "raddle/exec/lanes/memory.h"
#include "raddle/exec/lanes/warp.h"

namespace raddle::exec {

namespace {

using scalar::u32;
using scalar::u64;

/// Bytes of each operand's lanes; 0: there is none, or it is of no interest (below four bytes).
struct Operands {
  std::uint8_t d = 0, a = 0, b = 0, c = 0;
};

/// Is `name` an operand of the expression, that is a word of its own in its text?
constexpr bool names(std::string_view text, char name) {
  const auto letter = [](char x) {
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_';
  };
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == name && (i == 0 || !letter(text[i - 1])) &&
        (i + 1 == text.size() || !letter(text[i + 1])))
      return true;
  return false;
}
constexpr std::uint8_t whole(std::size_t bytes) {
  return static_cast<std::uint8_t>(bytes >= 4 ? bytes : 0);
}
template <class D, class A, class B, class C>
constexpr Operands operands_of(std::string_view text) {
  return {whole(sizeof(D)), names(text, 'a') ? whole(sizeof(A)) : std::uint8_t{0},
          names(text, 'b') ? whole(sizeof(B)) : std::uint8_t{0},
          names(text, 'c') ? whole(sizeof(C)) : std::uint8_t{0}};
}
/// A comparison's result is a predicate.
template <class A>
constexpr Operands compared(std::string_view text) {
  return {0, names(text, 'a') ? whole(sizeof(A)) : std::uint8_t{0},
          names(text, 'b') ? whole(sizeof(A)) : std::uint8_t{0}, 0};
}

namespace types {
using namespace scalar;
#undef ALU
#undef SETP
#define ALU(name, D, A, B, C, ...) operands_of<D, A, B, C>(#__VA_ARGS__),
#define SETP(name, A, ...) compared<A>(#__VA_ARGS__),
/// By Op, the arithmetic ones.
constexpr Operands kHot[] = {
#include "raddle/exec/isa/hot.def"
};
constexpr Operands kTable[] = {
#include "raddle/exec/isa/convert.def"
#include "raddle/exec/isa/float.def"
#include "raddle/exec/isa/half.def"
#include "raddle/exec/isa/integer.def"
};
#undef ALU
#undef SETP
}  // namespace types
static_assert(std::size(types::kHot) == kHotOps);
static_assert(std::size(types::kTable) == kAluOps - kFirstTableOp);

}  // namespace

/// One record, about to be executed.
struct Observation::Run {
  Context& context;
  const Record& ip;
  char* frame;
  u32 mask;
  AccessObserver::Thread thread(unsigned lane) const {
    return {context.warp->block, context.warp->index * kLanes + lane};
  }
  const char* word(u32 offset, unsigned bytes, unsigned lane, unsigned half) const {
    return frame + offset + bytes * lane + 4 * half;
  }
};

// --- registers ----------------------------------------------------------------------------------

void Observation::use(const Run& r, unsigned lane, Tag tag) {
  if (tag != 0) observer_.use(r.thread(lane), tag);
}
void Observation::use_words(const Run& r, unsigned lane, const char* at, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i += 4) use(r, lane, tags_.get(at + i));
}
void Observation::use_register(const Run& r, u32 offset, unsigned bytes) {
  if (bytes >= 4)
    each_lane(r.mask,
              [&](unsigned lane) { use_words(r, lane, r.word(offset, bytes, lane, 0), bytes); });
}
void Observation::clear_register(const Run& r, u32 offset, unsigned bytes) {
  for (unsigned half = 0; half < bytes / 4; ++half) set_tags(r, offset, bytes, half, {});
}
Observation::Tags Observation::tags_of(const Run& r, u32 offset, unsigned bytes, unsigned half) {
  Tags out;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = tags_.get(r.word(offset, bytes, lane, half));
  return out;
}
void Observation::set_tags(const Run& r, u32 offset, unsigned bytes, unsigned half,
                           const Tags& tags) {
  each_lane(r.mask,
            [&](unsigned lane) { tags_.set(r.word(offset, bytes, lane, half), tags[lane]); });
}
void Observation::forget_frame(const Run& r) {
  const Runner& runner = *static_cast<const Runner*>(r.context.owner);
  const auto& warp = static_cast<const WarpState&>(*r.context.warp);
  tags_.forget(r.frame, runner.running_code(warp).frame_bytes);
}

void Observation::started(const Block& block, std::size_t frame_bytes, std::size_t shared_bytes,
                          std::size_t local_bytes) {
  tags_.forget(block.frames.data(), frame_bytes);
  tags_.forget(block.shared.data(), shared_bytes);
  tags_.forget(block.local.data(), local_bytes);
}

bool Observation::moves(const Run& run) {
  const Record& ip = run.ip;
  const auto copy = [&](u32 from, unsigned from_bytes, unsigned from_half, unsigned to_bytes,
                        unsigned to_half) {
    set_tags(run, ip.d, to_bytes, to_half, tags_of(run, from, from_bytes, from_half));
  };
  const auto select = [&](unsigned bytes, unsigned half) {
    const u32 take = scalar::predicate(run.frame, ip.c);
    const Tags first = tags_of(run, ip.a, bytes, half);
    Tags chosen = tags_of(run, ip.b, bytes, half);
    each_lane(take, [&](unsigned lane) { chosen[lane] = first[lane]; });
    set_tags(run, ip.d, bytes, half, chosen);
  };
  switch (ip.op) {
    case O_mov_32:
      copy(ip.a, 4, 0, 4, 0);
      return true;
    case O_mov_64:
      copy(ip.a, 8, 0, 8, 0);
      copy(ip.a, 8, 1, 8, 1);
      return true;
    case O_pack_64: {
      const Tags low = tags_of(run, ip.a, 4, 0), high = tags_of(run, ip.b, 4, 0);
      set_tags(run, ip.d, 8, 0, low);
      set_tags(run, ip.d, 8, 1, high);
      return true;
    }
    case O_trunc_64_32:
      copy(ip.a, 8, 0, 4, 0);
      return true;
    case O_high_64:
      copy(ip.a, 8, 1, 4, 0);
      return true;
    case O_selp_32:
      select(4, 0);
      return true;
    case O_selp_64:
      select(8, 0);
      select(8, 1);
      return true;
    case O_selp_16:
      return true;
    case O_shfl:
      shuffle(run);
      return true;
    default:
      return false;
  }
}

void Observation::arithmetic(const Run& r) {
  const Operands o =
      r.ip.op < kHotOps ? types::kHot[r.ip.op] : types::kTable[r.ip.op - kFirstTableOp];
  use_register(r, r.ip.a, o.a);
  use_register(r, r.ip.b, o.b);
  use_register(r, r.ip.c, o.c);
  clear_register(r, r.ip.d, o.d);
}

/// Where each lane's value comes from is asked of the operation itself, which moves lane numbers.
void Observation::shuffle(const Run& r) {
  alignas(64) char frame[3 * 128 + 128];
  std::array<u32, kLanes> lane_numbers;
  for (unsigned lane = 0; lane < kLanes; ++lane) lane_numbers[lane] = lane;
  std::memcpy(frame, lane_numbers.data(), 128);
  std::memcpy(frame + 128, r.frame + r.ip.b, 128);
  std::memcpy(frame + 256, r.frame + r.ip.c, 128);
  Record numbers = r.ip;
  numbers.a = 0;
  numbers.b = 128;
  numbers.c = 256;
  numbers.d = 384;
  numbers.aux = 0;
  std::memcpy(frame + 384, lane_numbers.data(), 128);
  scalar::shuffle(&numbers, frame, r.mask);
  const Tags from = tags_of(r, r.ip.a, 4, 0);
  Tags to{};
  each_lane(r.mask, [&](unsigned lane) {
    u32 source = 0;
    std::memcpy(&source, frame + 384 + 4 * lane, 4);
    to[lane] = from[source & 31];
  });
  set_tags(r, r.ip.d, 4, 0, to);
}

void Observation::warp_operation(const Run& r) {
  const auto op = static_cast<WarpOp>(r.ip.imm);
  if (op <= WarpOp::VoteUni) return;  // predicates
  if (op != WarpOp::Ballot && op != WarpOp::Activemask)
    use_register(r, r.ip.a, r.ip.flags == 3 ? 8 : 4);
  clear_register(r, r.ip.d, 4);
}

// --- memory -------------------------------------------------------------------------------------

namespace {
constexpr u64 kNowhere = ~u64{0};
}

/// `address`: of the lane, generic or in the space that the window says.
Observation::Place Observation::place_of(const Run& r, u64 address, unsigned lane,
                                         unsigned bytes) const {
  const Context& c = r.context;
  if (address >= DeviceMemory::kBase && address != kNowhere) return {address, nullptr, 4};
  if (address - kSharedWindow < kWindowBytes)
    return {0, shared_place(&c, address - kSharedWindow, bytes), 4};
  const u64 x = address - kLocalWindow;
  if (x >= kWindowBytes || x + bytes > c.local_bytes) return {};
  return {0, c.warp->local + (x >> 2) * 128 + 4 * lane + (x & 3), 128};
}

/// `window` is added to what the address registers hold.
void Observation::access(const Run& r, u64 window, bool store_it) {
  alignas(64) u64 at[kLanes];
  scalar::addresses_of(&r.ip, r.frame, r.mask, 0, at);
  use_register(r, r.ip.a, (r.ip.flags & kNarrowAddress) != 0 ? 4 : 8);
  each_lane(r.mask, [&](unsigned lane) {
    const Place place = place_of(r, at[lane] + window, lane, scalar::bytes_of(&r.ip));
    if (store_it) store(r, lane, place);
    else load(r, lane, place);
  });
}

void Observation::load(const Run& r, unsigned lane, const Place& place) {
  const unsigned size = 1u << (r.ip.flags & kElementMask);
  const unsigned width = 1u << (r.ip.flags >> kRegisterShift & 3);
  const auto thread = r.thread(lane);
  for (u32 j = 0; j < scalar::elements_of(&r.ip); ++j) {
    for (unsigned word = 0; word < (size + 3) / 4; ++word) {
      Tag tag = 0;
      if (place.global != 0)
        tag = observer_.load(thread, (place.global + j * size + 4 * word) & ~Address{3});
      else if (place.local != nullptr)
        tag = tags_.get(place.local + (j * size / 4 + word) * place.row);
      const bool copied = size == width && size >= 4;
      if (!copied) use(r, lane, tag);
      if (width >= 4)
        tags_.set(r.word(scalar::data_of(&r.ip, j), width, lane, word), copied ? tag : 0);
    }
    if (width == 8 && size < 8) tags_.set(r.word(scalar::data_of(&r.ip, j), 8, lane, 1), 0);
  }
}

void Observation::store(const Run& r, unsigned lane, const Place& place) {
  const unsigned size = 1u << (r.ip.flags & kElementMask);
  const unsigned width = 1u << (r.ip.flags >> kRegisterShift & 3);
  for (u32 j = 0; j < scalar::elements_of(&r.ip); ++j) {
    const u32 data = scalar::data_of(&r.ip, j);
    for (unsigned word = 0; word < (size + 3) / 4; ++word) {
      const bool copied = size == width && size >= 4 && place.global == 0;
      const Tag tag = width >= 4 ? tags_.get(r.word(data, width, lane, word)) : 0;
      if (!copied) use(r, lane, tag);
      if (place.local != nullptr)
        tags_.set(place.local + (j * size / 4 + word) * place.row, copied ? tag : 0);
    }
  }
  if (place.global != 0) observer_.store(r.thread(lane), place.global, scalar::bytes_of(&r.ip));
}

void Observation::atomic(const Run& r) {
  alignas(64) u64 at[kLanes];
  scalar::addresses_of(&r.ip, r.frame, r.mask, 0, at);
  const auto space = static_cast<ptx::Space>(r.ip.aux >> 16 & 255);
  const unsigned size = 1u << (r.ip.flags & kElementMask);
  use_register(r, r.ip.a, (r.ip.flags & kNarrowAddress) != 0 ? 4 : 8);
  use_register(r, r.ip.b, size);
  if (static_cast<AtomOp>(r.ip.aux & 255) == AtomOp::Compare) use_register(r, r.ip.c, size);
  each_lane(r.mask, [&](unsigned lane) {
    const u64 window = space == ptx::Space::Shared ? kSharedWindow : 0;
    const Place place = place_of(r, at[lane] + window, lane, size);
    if (place.global != 0) {
      slow_load(r.context, lane, place.global, size);
      slow_store(r.context, lane, place.global, size);
    } else if (place.local != nullptr) {
      use_words(r, lane, place.local, size);
      for (unsigned i = 0; i < size; i += 4) tags_.set(place.local + i, 0);
    }
  });
  if ((r.ip.aux >> 24 & 1) != 0) clear_register(r, r.ip.d, size);
}

void Observation::slow_load(const Context& c, unsigned lane, Address at, unsigned bytes) {
  const AccessObserver::Thread thread{c.warp->block, c.warp->index * kLanes + lane};
  for (Address word = at & ~Address{3}; word < at + bytes; word += 4)
    if (const Tag tag = observer_.load(thread, word); tag != 0) observer_.use(thread, tag);
}
void Observation::slow_store(const Context& c, unsigned lane, Address at, unsigned bytes) {
  observer_.store({c.warp->block, c.warp->index * kLanes + lane}, at, bytes);
}

void Observation::call(const Run& r) {
  const Runner& runner = *static_cast<const Runner*>(r.context.owner);
  const auto& warp = static_cast<const WarpState&>(*r.context.warp);
  const CallSite& site = runner.running_code(warp).calls[static_cast<std::size_t>(r.ip.imm)];
  for (const ParameterPlace& p : site.arguments)
    for (u32 at = 0; at < p.frame_bytes(); at += 128) use_register(r, p.offset + at, 4);
  for (const ParameterPlace& p : site.returns) tags_.forget(r.frame + p.offset, p.frame_bytes());
}

// --- all ----------------------------------------------------------------------------------------

void Observation::about_to_run(Context& context, const Record& ip, char* frame, u32 mask) {
  const Run run{context, ip, frame, mask};
  if (mask == 0 || moves(run)) return;
  if (ip.op < kAluOps) return arithmetic(run);
  switch (ip.op) {
    case O_pred_from_32:
      return use_register(run, ip.a, 4);
    case O_warp:
      return warp_operation(run);
    case O_bar:
      if (static_cast<BarOp>(ip.imm) == BarOp::Popc) clear_register(run, ip.d, 4);
      return;
    case O_clock:
    case O_local_address:
      return clear_register(run, ip.d, ip.aux == 8 ? 8 : 4);
    case O_ld_global_32:
    case O_ld_global_64:
    case O_ld_global:
    case O_ld_const:
    case O_ld_generic:
      return access(run, 0, false);
    case O_st_global_32:
    case O_st_global_64:
    case O_st_global:
    case O_st_generic:
      return access(run, 0, true);
    case O_ld_shared_32:
    case O_ld_shared:
      return access(run, kSharedWindow, false);
    case O_st_shared_32:
    case O_st_shared:
      return access(run, kSharedWindow, true);
    case O_ld_local:
      return access(run, kLocalWindow, false);
    case O_st_local:
      return access(run, kLocalWindow, true);
    case O_ld_param:
      for (u32 j = 0; j < scalar::elements_of(&ip); ++j)
        clear_register(run, scalar::data_of(&ip, j), 1u << (ip.flags >> kRegisterShift & 3));
      return;
    case O_atom:
      return atomic(run);
    case O_call:
    case O_call_indirect:
      return call(run);
    case O_slow:
    case O_slow_access:
    case O_image:
      forget_frame(run);
      return observer_.unseen();
    default:
      return;
  }
}

void observe(Context* c, const Record* ip, char* frame, u32 mask) {
  static_cast<Runner*>(c->owner)->watcher()->about_to_run(*c, *ip, frame, mask);
}

}  // namespace raddle::exec
