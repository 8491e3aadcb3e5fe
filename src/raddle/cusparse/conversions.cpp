// Conversions of the older interface, all of 32-bit indices: COO and CSR, CSR and CSC, and sorting.
#include "raddle/cusparse/descriptors.h"
#include "raddle/cusparse/steps.h"

using namespace raddle::cusparse;

namespace {

Sparse lines_of(const int* offsets, std::int64_t lines, std::int64_t width, std::int64_t entries,
                int base) {
  Sparse out{};
  out.offsets = narrow(offsets);
  out.lines = lines;
  out.width = width;
  out.entries = entries;
  out.base = base;
  return out;
}

void check_sizes(int m, int n, int entries) { require(m >= 0 && n >= 0 && entries >= 0); }

/// Entries as (line, index), sorted by one of these: the lines and where each was before.
struct Transposition {
  int* lines;
  SortMemory sort;
  std::size_t bytes;
};
Transposition transposition(void* at, int entries) {
  Buffer buffer(at);
  Transposition out{};
  out.lines = buffer.take<int>(entries);
  out.sort = sort_memory(buffer, entries);
  out.bytes = buffer.bytes();
  return out;
}

void to_csc(Handle& h, int m, int n, int entries, const void* values, const int* offsets,
            const int* indices, void* to_values, int* to_offsets, int* to_indices, int type,
            bool numeric, int base, void* at) {
  Transposition t = transposition(at, entries);
  if (entries > 0) {
    pick(h, narrow(indices), nullptr, entries, -base, reinterpret_cast<int*>(t.sort.keys));
    identity(h, reinterpret_cast<int*>(t.sort.payloads), entries, 0);
    expand(h, lines_of(offsets, m, n, entries, base), narrow(t.lines), base);
    sort(h, t.sort, entries, n);
  }
  compress(h, narrow(t.sort.keys), entries, 0, n, narrow(to_offsets), base);
  const auto* const where = reinterpret_cast<const int*>(t.sort.payloads);
  pick(h, narrow(t.lines), where, entries, 0, to_indices);
  if (!numeric || entries == 0) return;
  launch(h, "steps", "sparse_" + move_letter_of(type, "cusparseCsr2cscEx2") + "pick",
         {blocks_for(entries)}, kThreads, values, where, entries, 0, to_values);
}

/// By what comes second first: the sort is stable. Then both arrays and P follow.
struct Pairs {
  int *copy, *order;
  SortMemory sort;
  std::size_t bytes;
};
Pairs pairs_of(void* at, int entries) {
  Buffer buffer(at);
  Pairs out{};
  out.copy = buffer.take<int>(entries);
  out.order = buffer.take<int>(entries);
  out.sort = sort_memory(buffer, entries);
  out.bytes = buffer.bytes();
  return out;
}
void permute(Handle& h, int* array, const int* where, int* copy_at, int entries) {
  if (array == nullptr) return;
  copy(copy_at, array, static_cast<std::size_t>(entries) * sizeof(int), h.stream);
  pick(h, narrow(copy_at), where, entries, 0, array);
}
/// `major` may be in `of_lines` instead, of a compressed matrix; that is not moved then.
void sort_pairs(Handle& h, int entries, int* major, std::int64_t major_bound, int* minor,
                std::int64_t minor_bound, const Sparse* of_lines, int base, int* p, void* at) {
  if (entries == 0) return;
  Pairs all = pairs_of(at, entries);
  auto keys = [&] { return reinterpret_cast<int*>(all.sort.keys); };
  auto payloads = [&] { return reinterpret_cast<int*>(all.sort.payloads); };
  pick(h, narrow(minor), nullptr, entries, -base, keys());
  identity(h, payloads(), entries, 0);
  sort(h, all.sort, entries, minor_bound);
  if (of_lines != nullptr) {
    expand(h, *of_lines, narrow(all.copy), 0);
    pick(h, narrow(all.copy), payloads(), entries, 0, keys());
  } else {
    pick(h, narrow(major), payloads(), entries, -base, keys());
  }
  sort(h, all.sort, entries, major_bound);
  copy(all.order, payloads(), static_cast<std::size_t>(entries) * sizeof(int), h.stream);
  if (of_lines == nullptr) permute(h, major, all.order, all.copy, entries);
  permute(h, minor, all.order, all.copy, entries);
  permute(h, p, all.order, all.copy, entries);
}
/// Indices of COO may start at 0 or 1: bounds allow for both.
int sort_coo(Handle* handle, int m, int n, int entries, int* major, int major_bound, int* minor,
             int minor_bound, int* p, void* buffer) {
  return call(handle, [&](Handle& h) {
    check_sizes(m, n, entries);
    require(entries == 0 || (major != nullptr && minor != nullptr && buffer != nullptr));
    sort_pairs(h, entries, major, major_bound + std::int64_t{1}, minor,
               minor_bound + std::int64_t{1}, nullptr, 0, p, buffer);
  });
}
int sort_bytes(Handle* handle, int m, int n, int entries, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    check_sizes(m, n, entries);
    given(bytes) = pairs_of(nullptr, entries).bytes;
  });
}
/// Of CSR or CSC: each line by its indices.
int sort_lines(Handle* handle, std::int64_t lines, std::int64_t width, int entries,
               const LegacyDescriptor* descriptor, const int* offsets, int* indices, int* p,
               void* buffer) {
  return call(handle, [&](Handle& h) {
    require(lines >= 0 && width >= 0 && entries >= 0);
    const int base = given(descriptor).base;
    require(descriptor->type == 0, kMatrixTypeNotSupported);
    require(entries == 0 || (offsets != nullptr && indices != nullptr && buffer != nullptr));
    const Sparse a = lines_of(offsets, lines, width, entries, base);
    sort_pairs(h, entries, nullptr, lines, indices, width, &a, base, p, buffer);
  });
}

}  // namespace

extern "C" {

int raddle_cusparseXcoo2csr(Handle* handle, const int* rows, int entries, int m, int* offsets,
                            int base) {
  return call(handle, [&](Handle& h) {
    check_sizes(m, 0, entries);
    require((base == 0 || base == 1) && offsets != nullptr && (entries == 0 || rows != nullptr));
    compress(h, narrow(rows), entries, base, m, narrow(offsets), base);
  });
}
int raddle_cusparseXcsr2coo(Handle* handle, const int* offsets, int entries, int m, int* rows,
                            int base) {
  return call(handle, [&](Handle& h) {
    check_sizes(m, 0, entries);
    require((base == 0 || base == 1) && (entries == 0 || (offsets != nullptr && rows != nullptr)));
    expand(h, lines_of(offsets, m, 0, entries, base), narrow(rows), base);
  });
}

int raddle_cusparseCsr2cscEx2_bufferSize(Handle* handle, int m, int n, int entries, const void*,
                                         const int*, const int*, void*, int*, int*, int type, int,
                                         int base, int, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    check_sizes(m, n, entries);
    require(base == 0 || base == 1);
    move_letter_of(type, "cusparseCsr2cscEx2");
    given(bytes) = transposition(nullptr, entries).bytes;
  });
}
int raddle_cusparseCsr2cscEx2(Handle* handle, int m, int n, int entries, const void* values,
                              const int* offsets, const int* indices, void* to_values,
                              int* to_offsets, int* to_indices, int type, int action, int base,
                              int algorithm, void* buffer) {
  return call(handle, [&](Handle& h) {
    check_sizes(m, n, entries);
    require((base == 0 || base == 1) && (action == 0 || action == 1) && algorithm == 1);
    require(to_offsets != nullptr);
    const bool numeric = action == 1;
    if (entries > 0) {
      require(offsets != nullptr && indices != nullptr && to_indices != nullptr);
      require(buffer != nullptr && (!numeric || (values != nullptr && to_values != nullptr)));
    }
    move_letter_of(type, "cusparseCsr2cscEx2");
    to_csc(h, m, n, entries, values, offsets, indices, to_values, to_offsets, to_indices, type,
           numeric, base, buffer);
  });
}

int raddle_cusparseCreateIdentityPermutation(Handle* handle, int n, int* p) {
  return call(handle, [&](Handle& h) {
    require(n >= 0 && (n == 0 || p != nullptr));
    identity(h, p, n, 0);
  });
}

int raddle_cusparseXcoosort_bufferSizeExt(Handle* handle, int m, int n, int entries, const int*,
                                          const int*, std::size_t* bytes) {
  return sort_bytes(handle, m, n, entries, bytes);
}
int raddle_cusparseXcoosortByRow(Handle* handle, int m, int n, int entries, int* rows, int* columns,
                                 int* p, void* buffer) {
  return sort_coo(handle, m, n, entries, rows, m, columns, n, p, buffer);
}
int raddle_cusparseXcoosortByColumn(Handle* handle, int m, int n, int entries, int* rows,
                                    int* columns, int* p, void* buffer) {
  return sort_coo(handle, m, n, entries, columns, n, rows, m, p, buffer);
}
int raddle_cusparseXcsrsort_bufferSizeExt(Handle* handle, int m, int n, int entries, const int*,
                                          const int*, std::size_t* bytes) {
  return sort_bytes(handle, m, n, entries, bytes);
}
int raddle_cusparseXcsrsort(Handle* handle, int m, int n, int entries,
                            const LegacyDescriptor* descriptor, const int* offsets, int* indices,
                            int* p, void* buffer) {
  return sort_lines(handle, m, n, entries, descriptor, offsets, indices, p, buffer);
}
int raddle_cusparseXcscsort_bufferSizeExt(Handle* handle, int m, int n, int entries, const int*,
                                          const int*, std::size_t* bytes) {
  return sort_bytes(handle, m, n, entries, bytes);
}
int raddle_cusparseXcscsort(Handle* handle, int m, int n, int entries,
                            const LegacyDescriptor* descriptor, const int* offsets, int* indices,
                            int* p, void* buffer) {
  return sort_lines(handle, n, m, entries, descriptor, offsets, indices, p, buffer);
}

}  // extern "C"
