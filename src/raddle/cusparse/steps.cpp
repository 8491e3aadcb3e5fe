#include "raddle/cusparse/steps.h"

#include <type_traits>
#include <utility>

namespace raddle::cusparse {

namespace {
constexpr const char* kModule = "steps";
}

std::int64_t scan_sums(std::int64_t n) { return n / kScanElements + 1; }

template <class T>
void scan(Handle& h, const T* from, std::int64_t n, T first, T* to, T* sums) {
  const std::string suffix = std::is_same_v<T, int> ? "" : "_64";
  const long long count = n;
  const auto blocks = static_cast<unsigned>(scan_sums(n));
  if (blocks > 1) {
    launch(h, kModule, "sparse_scan_sums" + suffix, {blocks}, kThreads, from, count, sums);
    launch(h, kModule, "sparse_scan_of_sums" + suffix, {}, kThreads, sums,
           static_cast<long long>(blocks));
  }
  launch(h, kModule, "sparse_scan" + suffix, {blocks}, kThreads, from, count,
         static_cast<const T*>(blocks > 1 ? sums : nullptr), first, to);
}
template void scan(Handle&, const int*, std::int64_t, int, int*, int*);
template void scan(Handle&, const long long*, std::int64_t, long long, long long*, long long*);

SortMemory sort_memory(Buffer& buffer, std::int64_t n) {
  SortMemory out{};
  out.keys = buffer.take<unsigned>(n);
  out.payloads = buffer.take<unsigned>(n);
  out.other_keys = buffer.take<unsigned>(n);
  out.other_payloads = buffer.take<unsigned>(n);
  const std::int64_t counts = kDigits * (n / kSortElements + 1);
  out.counts = buffer.take<int>(counts + 1);
  out.sums = buffer.take<int>(scan_sums(counts));
  return out;
}

void sort(Handle& h, SortMemory& m, std::int64_t n, std::int64_t bound) {
  if (n <= 1) return;
  const auto blocks = blocks_for(n, kSortElements);
  const int count = static_cast<int>(n);
  for (int shift = 0; shift < 32 && (bound - 1) >> shift > 0; shift += kDigitBits) {
    launch(h, kModule, "sparse_sort_count", {blocks}, kThreads,
           static_cast<const unsigned*>(m.keys), count, shift, m.counts);
    scan(h, static_cast<const int*>(m.counts), static_cast<std::int64_t>(blocks) * kDigits, 0,
         m.counts, m.sums);
    launch(h, kModule, "sparse_sort_move", {blocks}, kThreads, static_cast<const unsigned*>(m.keys),
           static_cast<const unsigned*>(m.payloads), count, shift,
           static_cast<const int*>(m.counts), m.other_keys, m.other_payloads);
    std::swap(m.keys, m.other_keys);
    std::swap(m.payloads, m.other_payloads);
  }
}

void expand(Handle& h, const Sparse& a, Indices to, int base) {
  if (a.entries > 0)
    launch(h, kModule, "sparse_expand", {blocks_for(a.entries)}, kThreads, a, to, base);
}
void compress(Handle& h, Indices positions, std::int64_t entries, int base, std::int64_t lines,
              Indices offsets, int offset_base) {
  launch(h, kModule, "sparse_compress", {blocks_for(entries + 1)}, kThreads, positions,
         static_cast<long long>(entries), base, static_cast<long long>(lines), offsets,
         offset_base);
}
void identity(Handle& h, int* to, std::int64_t n, int first) {
  if (n > 0)
    launch(h, kModule, "sparse_identity", {blocks_for(n)}, kThreads, to, static_cast<int>(n),
           first);
}
void pick(Handle& h, Indices from, const int* where, std::int64_t n, int add, int* to) {
  if (n > 0)
    launch(h, kModule, "sparse_pick", {blocks_for(n)}, kThreads, from, where, static_cast<int>(n),
           add, to);
}

}  // namespace raddle::cusparse
