// The instructions of a kernel, found while its trace is read.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "raddle/accelsim/instruction.h"
#include "raddle/trace/code.h"

namespace raddle::accelsim {

class CodeTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit CodeTable(const LineFormat& format) : format_(format) {}
  /// The instruction at `pc` with which `text` (a line from nd on) begins; a new one where there is
  /// none. Throws InputError without a place.
  std::uint32_t find(std::uint64_t pc, std::string_view text, unsigned source_line) {
    for (std::uint32_t at = first_of(pc); at != kNone; at = entries_[at].next)
      if (same(entries_[at].line, text)) return at;
    return add(pc, text, source_line);
  }
  StaticLine& line(std::uint32_t at) { return entries_[at].line; }
  std::uint64_t& executed(std::uint32_t at) { return entries_[at].executed; }
  std::size_t size() const { return entries_.size(); }
  /// The same instruction meaning shared or local memory.
  std::uint32_t in_space(std::uint32_t at, Space space);
  /// The same instruction as one of that kind, which does `bytes` (trace/code.h), maybe as part of
  /// the copy that it is.
  std::uint32_t as(std::uint32_t at, trace::OpKind kind, unsigned bytes,
                   trace::CopyKind copy = trace::CopyKind::None);
  /// The same without another instruction where it is executed for the first time: the instruction
  /// itself becomes that. Precondition: it has no record yet for this time.
  std::uint32_t become(std::uint32_t at, trace::OpKind kind, unsigned bytes);
  /// Instructions in order of address, and the place of each there. Functions are traced by offsets
  /// of their own: the second instruction of an address goes behind all first ones.
  trace::KernelCode finish(std::vector<std::uint32_t>& final_index) const;

 private:
  struct Entry {
    StaticLine line;
    std::uint32_t variant = 0;   // of the address
    std::uint32_t next = kNone;  // instruction of the address
    std::uint32_t shared = kNone, local = kNone, alias_of = kNone;
    std::vector<std::uint32_t> others;  // that stand for it, as()
    bool follows = false;               // ... stands right behind it
    std::uint64_t executed = 0;
  };
  static constexpr std::uint64_t kDense = std::uint64_t{1} << 20;  // of 16 bytes each

  static bool same(const StaticLine& line, std::string_view text) {
    const std::size_t n = line.text.size();
    return text.size() >= n && __builtin_memcmp(text.data(), line.text.data(), n) == 0 &&
           (text.size() == n || text[n] == ' ' || text[n] == '\r' || text[n] == '\t');
  }
  std::uint32_t first_of(std::uint64_t pc) const {
    const std::uint64_t slot = pc / 16;
    if (pc % 16 == 0 && slot < dense_.size()) return dense_[slot];
    if (pc % 16 == 0 && slot < kDense) return kNone;
    const auto found = sparse_.find(pc);
    return found == sparse_.end() ? kNone : found->second;
  }
  std::uint32_t add(std::uint64_t pc, std::string_view text, unsigned source_line);
  std::uint32_t push(Entry entry);
  std::uint32_t push_alias(std::uint32_t of, trace::OpKind kind, Space space);

  LineFormat format_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;  // looked up, never walked
};

}  // namespace raddle::accelsim
