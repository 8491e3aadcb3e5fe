// What a generated program computes: its tree, walked for all threads of a block at once. Nothing
// here is the functional machine's.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "support/generated_program.h"

namespace raddle::test {

inline std::uint64_t single(float value) {
  return value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fffffffu;
}
inline float single(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline std::int32_t whole(std::uint64_t value) { return static_cast<std::int32_t>(value); }
inline std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
inline std::uint64_t to_whole(float value) {
  if (value != value) return 0;
  if (value >= 2147483648.0f) return 0x7fffffff;
  if (value <= -2147483648.0f) return 0x80000000;
  return low_word(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}
inline std::uint64_t fewer_bits(std::uint64_t value, unsigned shift) {
  return shift > 31 ? 0 : low_word(value) >> shift;
}

inline const std::vector<Operation>& operations() {
  using Word = std::uint64_t;
#define RADDLE_VALUE(expression)                                                          \
  [](Word a [[maybe_unused]], Word b [[maybe_unused]], Word c [[maybe_unused]]) -> Word { \
    return expression;                                                                    \
  }
  static const std::vector<Operation> kAll = {
      {"add.u32 <D>, <A>, <B>", "www", RADDLE_VALUE(low_word(a + b))},
      {"sub.s32 <D>, <A>, <B>", "www", RADDLE_VALUE(low_word(a - b))},
      {"mul.lo.s32 <D>, <A>, <B>", "www", RADDLE_VALUE(low_word(a * b))},
      {"mul.hi.u32 <D>, <A>, <B>", "www", RADDLE_VALUE(a * b >> 32)},
      {"mad.lo.u32 <D>, <A>, <B>, <C>", "wwww", RADDLE_VALUE(low_word(a * b + c))},
      {"and.b32 <D>, <A>, <B>", "www", RADDLE_VALUE(a & b)},
      {"or.b32 <D>, <A>, <B>", "www", RADDLE_VALUE(a | b)},
      {"xor.b32 <D>, <A>, <B>", "www", RADDLE_VALUE(a ^ b)},
      {"not.b32 <D>, <A>", "ww", RADDLE_VALUE(low_word(~a))},
      {"shl.b32 <D>, <A>, <B>", "www", RADDLE_VALUE(b > 31 ? 0 : low_word(a << b))},
      {"shr.u32 <D>, <A>, <B>", "www", RADDLE_VALUE(b > 31 ? 0 : a >> b)},
      {"shr.s32 <D>, <A>, <B>", "www",
       RADDLE_VALUE(low_word(static_cast<Word>(whole(a) >> std::min<Word>(b, 31))))},
      {"min.s32 <D>, <A>, <B>", "www", RADDLE_VALUE(whole(a) < whole(b) ? a : b)},
      {"max.u32 <D>, <A>, <B>", "www", RADDLE_VALUE(std::max(a, b))},
      {"div.u32 <D>, <A>, <B>", "www", RADDLE_VALUE(b == 0 ? 0xffffffff : a / b)},
      {"popc.b32 <D>, <A>", "ww", RADDLE_VALUE(static_cast<Word>(std::popcount(a)))},
      {"clz.b32 <D>, <A>", "ww", RADDLE_VALUE(static_cast<Word>(std::countl_zero(low_word(a))))},
      {"abs.s32 <D>, <A>", "ww", RADDLE_VALUE(whole(a) < 0 ? low_word(0 - a) : a)},
      {"lop3.b32 <D>, <A>, <B>, <C>, 0xca", "wwww", RADDLE_VALUE((a & b) | (~a & c))},
      {"shf.l.wrap.b32 <D>, <A>, <B>, <C>", "wwww",
       RADDLE_VALUE(low_word((b << 32 | a) << (c & 31) >> 32))},
      {"prmt.b32 <D>, <A>, <B>, 0x6341", "www",
       RADDLE_VALUE((a >> 8 & 255) | (b & 255) << 8 | (a >> 24 & 255) << 16 |
                    (b >> 16 & 255) << 24)},
      {"bfe.u32 <D>, <A>, 5, 11", "ww", RADDLE_VALUE(a >> 5 & 0x7ff)},
      {"bfi.b32 <D>, <A>, <B>, 7, 9", "www", RADDLE_VALUE((b & ~0xff80ull) | (a & 0x1ff) << 7)},
      {"selp.b32 <D>, <A>, <B>, <C>", "wwwp", RADDLE_VALUE(c != 0 ? a : b)},
      {"cvt.s32.s8 <D>, <A>", "ww",
       RADDLE_VALUE(low_word(static_cast<Word>(static_cast<std::int8_t>(a))))},
      {"mov.b32 <D>, <A>", "wf", RADDLE_VALUE(a)},
      {"cvt.rzi.s32.f32 <D>, <A>", "wf", RADDLE_VALUE(to_whole(std::trunc(single(a))))},
      {"cvt.u32.u64 <D>, <A>", "wl", RADDLE_VALUE(low_word(a))},
      {"setp.lt.s32 <D>, <A>, <B>", "pww", RADDLE_VALUE(whole(a) < whole(b))},
      {"setp.ne.u32 <D>, <A>, <B>", "pww", RADDLE_VALUE(a != b)},
      {"setp.ge.f32 <D>, <A>, <B>", "pff", RADDLE_VALUE(single(a) >= single(b))},
      {"setp.ltu.f32 <D>, <A>, <B>", "pff", RADDLE_VALUE(!(single(a) >= single(b)))},
      {"setp.gt.u64 <D>, <A>, <B>", "pll", RADDLE_VALUE(a > b)},
      {"xor.pred <D>, <A>, <B>", "ppp", RADDLE_VALUE(a ^ b)},
      {"not.pred <D>, <A>", "pp", RADDLE_VALUE(a ^ 1)},
      {"add.f32 <D>, <A>, <B>", "fff", RADDLE_VALUE(single(single(a) + single(b)))},
      {"sub.f32 <D>, <A>, <B>", "fff", RADDLE_VALUE(single(single(a) - single(b)))},
      {"mul.f32 <D>, <A>, <B>", "fff", RADDLE_VALUE(single(single(a) * single(b)))},
      {"fma.rn.f32 <D>, <A>, <B>, <C>", "ffff",
       RADDLE_VALUE(single(std::fma(single(a), single(b), single(c))))},
      {"div.rn.f32 <D>, <A>, <B>", "fff", RADDLE_VALUE(single(single(a) / single(b)))},
      {"sqrt.rn.f32 <D>, <A>", "ff", RADDLE_VALUE(single(std::sqrt(single(a))))},
      {"neg.f32 <D>, <A>", "ff", RADDLE_VALUE(a ^ 0x80000000)},
      {"abs.f32 <D>, <A>", "ff", RADDLE_VALUE(a & 0x7fffffff)},
      {"mul.f32 <D>, <A>, 0f3A83126F", "ff", RADDLE_VALUE(single(single(a) * 0.001f))},
      {"cvt.rn.f32.s32 <D>, <A>", "fw", RADDLE_VALUE(single(static_cast<float>(whole(a))))},
      {"cvt.rn.f32.u32 <D>, <A>", "fw", RADDLE_VALUE(single(static_cast<float>(low_word(a))))},
      {"selp.f32 <D>, <A>, <B>, <C>", "fffp", RADDLE_VALUE(c != 0 ? a : b)},
      {"add.u64 <D>, <A>, <B>", "lll", RADDLE_VALUE(a + b)},
      {"mul.lo.u64 <D>, <A>, <B>", "lll", RADDLE_VALUE(a * b)},
      {"xor.b64 <D>, <A>, <B>", "lll", RADDLE_VALUE(a ^ b)},
      {"shr.u64 <D>, <A>, 9", "ll", RADDLE_VALUE(a >> 9)},
      {"mul.wide.u32 <D>, <A>, <B>", "lww", RADDLE_VALUE(a * b)},
      {"mad.wide.s32 <D>, <A>, <B>, <C>", "lwwl",
       RADDLE_VALUE(static_cast<Word>(std::int64_t{whole(a)} * whole(b)) + c)},
      {"cvt.s64.s32 <D>, <A>", "lw", RADDLE_VALUE(static_cast<Word>(std::int64_t{whole(a)}))},
  };
#undef RADDLE_VALUE
  return kAll;
}

class ProgramValue {
 public:
  /// `buffer` as before the launch; afterwards as the kernel leaves it.
  static void run(const GeneratedProgram& program, std::vector<std::uint32_t>& buffer) {
    for (unsigned block = 0; block < program.blocks; ++block)
      ProgramValue(program, block, buffer).finish();
  }

 private:
  using Kind = Statement::Kind;
  using Mask = std::vector<char>;  ///< by thread
  struct Thread {
    std::uint32_t words[kWords], own[kLocalWords];
    std::uint64_t singles[kSingles], longs[kLongs], predicates[kPredicates];
  };

  ProgramValue(const GeneratedProgram& program, unsigned block, std::vector<std::uint32_t>& buffer)
      : first_(block * program.threads), buffer_(buffer), threads_(program.threads) {
    for (unsigned t = 0; t < threads_.size(); ++t) start(threads_[t], first_ + t);
    Mask all(threads_.size(), 1), left(threads_.size(), 0);
    walk(program.statements, all, left);
  }
  void start(Thread& thread, unsigned global) const {
    for (unsigned i = 0; i < kWords; ++i)
      thread.own[i] = thread.words[i] = buffer_[(7 * global + 13 * i) % kTableWords] ^ global;
    for (unsigned i = 0; i < kSingles; ++i)
      thread.singles[i] = single(static_cast<float>(whole(thread.words[i])));
    for (unsigned i = 0; i < kLongs; ++i)
      thread.longs[i] = std::uint64_t{thread.words[i]} * thread.words[i + 1];
    for (unsigned i = 0; i < kPredicates; ++i)
      thread.predicates[i] = whole(thread.words[i]) < whole(thread.words[i + 4]);
  }
  void finish() const {
    std::size_t at = kTableWords + kCounters + std::size_t{kResultWords} * first_;
    for (const Thread& thread : threads_) {
      for (const std::uint32_t word : thread.words) buffer_[at++] = word;
      for (const std::uint64_t value : thread.singles) buffer_[at++] = low_word(value);
      for (const std::uint64_t value : thread.longs) {
        buffer_[at++] = low_word(value);
        buffer_[at++] = low_word(value >> 32);
      }
    }
  }

  static std::uint64_t read(const Thread& thread, char kind, const Source& source) {
    if (source.immediate) return source.value;
    return kind == 'w'   ? thread.words[source.value]
           : kind == 'f' ? thread.singles[source.value]
           : kind == 'l' ? thread.longs[source.value]
                         : thread.predicates[source.value];
  }
  static std::uint32_t word(const Thread& thread, const Statement& statement, std::size_t source) {
    return thread.words[statement.sources[source].value];
  }
  static bool holds(const Thread& thread, const Statement& statement) {
    return statement.guard < 0 || (thread.predicates[statement.guard] != 0) != statement.negated;
  }
  template <class Action>
  void each(const Mask& mask, Action action) {
    for (unsigned t = 0; t < threads_.size(); ++t)
      if (mask[t] != 0) action(threads_[t], t);
  }

  /// `left`: threads that have left the innermost loop; they are not in `mask` any more.
  void walk(const std::vector<Statement>& statements, Mask mask, Mask& left) {
    for (const Statement& statement : statements) {
      walk_one(statement, mask, left);
      for (unsigned t = 0; t < mask.size(); ++t)
        if (left[t] != 0) mask[t] = 0;
    }
  }
  void walk_one(const Statement& statement, const Mask& mask, Mask& left) {
    switch (statement.kind) {
      case Kind::Assign:
        return each(mask, [&](Thread& thread, unsigned) { assign(statement, thread); });
      case Kind::If: {
        Mask taken = mask, other = mask;
        each(mask, [&](Thread& thread, unsigned t) {
          (holds(thread, statement) ? other : taken)[t] = 0;
        });
        walk(statement.body, taken, left);
        return walk(statement.otherwise, other, left);
      }
      case Kind::Loop:
      case Kind::Repeat:
        return loop(statement, mask);
      case Kind::Break:
        return each(mask, [&](Thread& thread, unsigned t) {
          if (holds(thread, statement)) left[t] = 1;
        });
      case Kind::Gather:
        return each(mask, [&](Thread& thread, unsigned) {
          thread.words[statement.destination] = buffer_[word(thread, statement, 0) % kTableWords];
        });
      case Kind::ToLocal:
        return each(mask, [&](Thread& thread, unsigned) {
          thread.own[word(thread, statement, 0) % kLocalWords] = word(thread, statement, 1);
        });
      case Kind::FromLocal:
        return each(mask, [&](Thread& thread, unsigned) {
          thread.words[statement.destination] =
              thread.own[word(thread, statement, 0) % kLocalWords];
        });
      case Kind::Count:
        return each(mask, [&](Thread& thread, unsigned) {
          buffer_[kTableWords + word(thread, statement, 0) % kCounters] +=
              word(thread, statement, 1);
        });
      case Kind::Combine:
        return combine(statement);
      default:
        return exchange(statement);
    }
  }
  static void assign(const Statement& statement, Thread& thread) {
    if (!holds(thread, statement)) return;
    const Operation& operation = *statement.operation;
    std::uint64_t in[3] = {};
    for (std::size_t i = 1; i < operation.kinds.size(); ++i)
      in[i - 1] = read(thread, operation.kinds[i], statement.sources[i - 1]);
    const std::uint64_t value = operation.value(in[0], in[1], in[2]);
    const unsigned to = statement.destination;
    switch (operation.kinds[0]) {
      case 'w':
        thread.words[to] = low_word(value);
        return;
      case 'f':
        thread.singles[to] = value;
        return;
      case 'l':
        thread.longs[to] = value;
        return;
      default:
        thread.predicates[to] = value;
    }
  }
  void loop(const Statement& statement, const Mask& mask) {
    std::vector<std::uint32_t> times(threads_.size(), statement.count);
    if (statement.kind == Kind::Loop)
      each(mask, [&](Thread& thread, unsigned t) { times[t] = word(thread, statement, 0) & 7; });
    Mask inside = mask, left(threads_.size(), 0);
    for (std::uint32_t round = 0; round < 8; ++round) {
      for (unsigned t = 0; t < inside.size(); ++t)
        if (round >= times[t] || left[t] != 0) inside[t] = 0;
      if (std::count(inside.begin(), inside.end(), 1) != 0) walk(statement.body, inside, left);
    }
  }

  /// Of all threads, from the words that each has now.
  void exchange(const Statement& statement) {
    std::vector<std::uint32_t> result(threads_.size());
    for (unsigned t = 0; t < threads_.size(); ++t) result[t] = exchanged(statement, t);
    for (unsigned t = 0; t < threads_.size(); ++t)
      threads_[t].words[statement.destination] = result[t];
  }
  std::uint32_t exchanged(const Statement& statement, unsigned thread) const {
    if (statement.kind == Kind::Exchange) {
      const unsigned from =
          (thread * statement.mode + statement.count) % static_cast<unsigned>(threads_.size());
      return word(threads_[from], statement, 0);
    }
    const unsigned warp = thread / 32 * 32;
    if (statement.kind == Kind::Shuffle) return shuffled(statement, warp, thread % 32);
    std::uint32_t total = statement.kind == Kind::Ballot ? 0 : word(threads_[warp], statement, 0);
    for (unsigned lane = statement.kind == Kind::Ballot ? 0 : 1; lane < 32; ++lane) {
      const Thread& other = threads_[warp + lane];
      if (statement.kind == Kind::Ballot)
        total |= low_word(other.predicates[statement.mode % kPredicates]) << lane;
      else total = reduced(statement.mode % 6, total, word(other, statement, 0));
    }
    return total;
  }
  static std::uint32_t reduced(unsigned mode, std::uint32_t total, std::uint32_t next) {
    switch (mode) {
      case 0:
        return total + next;
      case 1:
        return std::min(total, next);
      case 2:
        return whole(total) < whole(next) ? next : total;
      case 3:
        return total & next;
      case 4:
        return total | next;
      default:
        return total ^ next;
    }
  }
  /// By segments: lanes 0 to n - 1 of each, n of them.
  std::uint32_t shuffled(const Statement& statement, unsigned warp, unsigned lane) const {
    constexpr unsigned kSizes[] = {32, 16, 8, 4};
    const int size = static_cast<int>(kSizes[statement.mode / 4 % 4]);
    const int place = static_cast<int>(lane) % size, base = static_cast<int>(lane) - place;
    const std::uint32_t given =
        statement.count < 32 ? statement.count : word(threads_[warp + lane], statement, 1) & 31;
    const int far = static_cast<int>(given);
    int from = 0;
    bool valid = true;
    switch (statement.mode % 4) {
      case 0:
        from = place - far;
        valid = from >= 0;
        break;
      case 1:
        from = place + far;
        valid = from < size;
        break;
      case 2:  // may leave the segment downwards: what lies there is read
        from = static_cast<int>(lane) ^ far;
        valid = from < base + size;
        from -= base;
        break;
      default:
        from = far % size;
    }
    const int source = valid ? base + from : static_cast<int>(lane);
    const std::uint32_t value = word(threads_[warp + static_cast<unsigned>(source)], statement, 0);
    return value + (valid ? 0 : 1);
  }
  void combine(const Statement& statement) {
    std::uint32_t cells[kSharedCells];
    for (unsigned i = 0; i < kSharedCells; ++i) cells[i] = i;
    for (const Thread& thread : threads_) {
      std::uint32_t& cell = cells[word(thread, statement, 0) % kSharedCells];
      const std::uint32_t next = word(thread, statement, 1);
      constexpr unsigned kAdd = 0, kMinimum = 1, kMaximum = 2;
      const unsigned mode = statement.mode % 4;
      cell = mode == kAdd       ? cell + next
             : mode == kMinimum ? (whole(next) < whole(cell) ? next : cell)
             : mode == kMaximum ? std::max(cell, next)
                                : cell ^ next;
    }
    for (Thread& thread : threads_)
      thread.words[statement.destination] = cells[statement.count % kSharedCells];
  }

  const unsigned first_;
  std::vector<std::uint32_t>& buffer_;
  std::vector<Thread> threads_;
};

}  // namespace raddle::test
