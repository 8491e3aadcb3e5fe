// Architectural registers by linear scan: Poletto and Sarkar, "Linear Scan Register Allocation",
// TOPLAS 21(5), 1999. There is no spilling: the count of registers is the result, not a limit.
#include <algorithm>
#include <bit>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"
#include "raddle/ptx/liveness.h"

namespace raddle::ptx {
namespace {

using Word = std::uint64_t;

// 32-bit registers that a value occupies; its first number is a multiple of this.
unsigned width_of(Type type) { return std::max(size_of(type) / 4, 1u); }

// A register file that grows. Lowest free numbers go first.
class RegisterFile {
 public:
  std::uint32_t take(unsigned width) {
    RADDLE_ASSERT(width == 1 || width == 2 || width == 4);
    while (lowest_ < free_.size() && free_[lowest_] == 0) ++lowest_;
    std::size_t word = lowest_;
    Word starts = 0;
    for (; word < free_.size(); ++word) {
      starts = free_[word];
      for (unsigned i = 1; i < width; i *= 2) starts &= starts >> i;
      starts &= kAligned[std::countr_zero(width)];
      if (starts != 0) break;
    }
    if (word == free_.size()) {
      free_.push_back(~Word{0});
      starts = ~Word{0};
    }
    const auto bit = static_cast<unsigned>(std::countr_zero(starts));
    free_[word] &= ~(run(width) << bit);
    const auto first = static_cast<std::uint32_t>(word * 64 + bit);
    size_ = std::max(size_, first + width);
    return first;
  }
  void give_back(std::uint32_t first, unsigned width) {
    const std::size_t word = first / 64;
    RADDLE_ASSERT(word < free_.size() && (free_[word] & run(width) << first % 64) == 0);
    free_[word] |= run(width) << first % 64;
    lowest_ = std::min(lowest_, word);
  }
  std::uint32_t size() const { return size_; }

 private:
  // Where values of width 1, 2, 4 may begin.
  static constexpr Word kAligned[] = {~Word{0}, 0x5555555555555555, 0x1111111111111111};
  static Word run(unsigned width) { return (Word{1} << width) - 1; }

  std::vector<Word> free_;
  std::size_t lowest_ = 0;  // no word before it has a free register
  std::uint32_t size_ = 0;
};

// Gives numbers to the registers `chosen`, all of one file; returns how many numbers that took.
unsigned scan(const Function& function, const std::vector<LiveInterval>& intervals,
              const std::vector<std::uint32_t>& chosen, std::vector<std::uint16_t>& number) {
  std::vector<std::uint32_t> starting = chosen, ending = chosen;
  std::sort(starting.begin(), starting.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(intervals[a].begin, a) < std::pair(intervals[b].begin, b);
  });
  std::sort(ending.begin(), ending.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(intervals[a].end, a) < std::pair(intervals[b].end, b);
  });
  RegisterFile file;
  std::size_t ended = 0;
  for (std::uint32_t reg : starting) {
    for (; intervals[ending[ended]].end < intervals[reg].begin; ++ended)
      file.give_back(number[ending[ended]], width_of(function.registers[ending[ended]].type));
    const std::uint32_t first = file.take(width_of(function.registers[reg].type));
    if (file.size() > RegisterAssignment::kNone)
      throw InputError(Place{{}, function.line, 0},
                       "function '" + function.name + "' keeps more than 65535 registers live");
    number[reg] = static_cast<std::uint16_t>(first);
  }
  return file.size();
}

}  // namespace

RegisterAssignment assign_registers(const Function& function) {
  const std::vector<LiveInterval> intervals = live_intervals(function);
  std::vector<std::uint32_t> predicates, others;
  RADDLE_ASSERT(intervals.size() == function.registers.size());
  for (std::uint32_t reg = 0; reg < intervals.size(); ++reg) {
    if (!intervals[reg].is_used()) continue;
    (function.registers[reg].type == Type::Pred ? predicates : others).push_back(reg);
  }
  RegisterAssignment made;
  made.number.assign(intervals.size(), RegisterAssignment::kNone);
  made.registers = scan(function, intervals, others, made.number);
  made.predicates = scan(function, intervals, predicates, made.number);
  return made;
}

}  // namespace raddle::ptx
