#include "raddle/exec/memory/written_bytes.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "raddle/base/error.h"

namespace raddle::exec {

namespace {
constexpr unsigned kBits = 64;

/// Calls f(word, mask) for each word of bits that [from, to) reaches, until it returns true.
template <class F>
void each_word(std::uint64_t from, std::uint64_t to, F f) {
  while (from < to) {
    const std::uint64_t word = from / kBits, end = std::min(to, (word + 1) * kBits);
    const unsigned first = static_cast<unsigned>(from % kBits);
    const unsigned count = static_cast<unsigned>(end - from);
    const std::uint64_t ones = count == kBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    if (f(word, ones << first)) return;
    from = end;
  }
}
}  // namespace

void WrittenBytes::allocated(Address at, std::uint64_t bytes) {
  if (bytes == 0) return;
  last_ = nullptr;
  ranges_[at] = {bytes, bytes, std::vector<std::uint64_t>((bytes + kBits - 1) / kBits)};
}

void WrittenBytes::freed(Address at) {
  last_ = nullptr;
  ranges_.erase(at);
}

WrittenBytes::Ranges::value_type* WrittenBytes::find(Address at) {
  if (last_ != nullptr && at - last_->first < last_->second.size) return last_;
  const auto after = ranges_.upper_bound(at);
  if (after == ranges_.begin()) return nullptr;
  auto& range = *std::prev(after);
  return at - range.first < range.second.size ? last_ = &range : nullptr;
}

void WrittenBytes::write(Address at, std::uint64_t bytes) {
  auto* const found = find(at);
  if (found == nullptr || found->second.left == 0) return;
  Range& range = found->second;
  const std::uint64_t from = at - found->first;
  each_word(from, std::min(from + bytes, range.size), [&](std::uint64_t word, std::uint64_t mask) {
    const auto fresh = static_cast<unsigned>(std::popcount(mask & ~range.bits[word]));
    RADDLE_ASSERT(fresh <= range.left);
    range.left -= fresh;
    range.bits[word] |= mask;
    return false;
  });
  if (range.left == 0) range.bits = {};
}

std::optional<WrittenBytes::Unwritten> WrittenBytes::first_unwritten(Address at,
                                                                     std::uint64_t bytes) {
  auto* const found = find(at);
  if (found == nullptr || found->second.left == 0) return std::nullopt;
  const Range& range = found->second;
  const std::uint64_t from = at - found->first;
  std::optional<Unwritten> out;
  each_word(from, std::min(from + bytes, range.size), [&](std::uint64_t word, std::uint64_t mask) {
    const std::uint64_t missing = mask & ~range.bits[word];
    if (missing == 0) return false;
    const auto bit = static_cast<unsigned>(std::countr_zero(missing));
    out = Unwritten{found->first, word * kBits + bit, range.size};
    return true;
  });
  return out;
}

void WrittenBytes::copy(Address to, Address from, std::uint64_t bytes) {
  const auto* const source = find(from);
  if (source == nullptr || source->second.left == 0) return write(to, bytes);
  auto* const target = find(to);
  if (target == nullptr) return;
  std::vector<bool> was(bytes);  // the two may overlap
  for (std::uint64_t i = 0; i < bytes; ++i)
    was[i] = source->second.written(from - source->first + i);
  Range& range = target->second;
  if (range.left == 0) range.bits.assign((range.size + kBits - 1) / kBits, ~std::uint64_t{0});
  for (std::uint64_t i = 0; i < bytes; ++i) {
    const std::uint64_t at = to - target->first + i, bit = std::uint64_t{1} << at % kBits;
    const bool is = (range.bits[at / kBits] & bit) != 0;
    if (is == was[i]) continue;
    range.bits[at / kBits] ^= bit;
    range.left += is ? 1 : -1;
  }
  if (range.left == 0) range.bits = {};
}

}  // namespace raddle::exec
