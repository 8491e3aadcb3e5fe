#include "raddle/cusparse/triangular.h"

#include <algorithm>

#include "raddle/cusparse/products.h"

namespace raddle::cusparse {

namespace {

constexpr const char* kModule = "triangular";

/// Both views of A: by its lines, and by the indices of its entries.
void make_views(Handle& h, const SparseMatrixDescriptor& a, TriangleMemory& m) {
  const Sparse from = sparse_of(a);
  const std::int64_t n = a.rows, entries = a.entries;
  pick(h, from.indices, nullptr, entries, -a.base, m.stored_indices);
  if (a.format == kCoo) {
    pick(h, from.positions, nullptr, entries, -a.base, m.stored_lines);
    compress(h, narrow(m.stored_lines), entries, 0, n, narrow(m.stored_offsets), 0);
  } else {
    pick(h, from.offsets, nullptr, n + 1, -a.base, m.stored_offsets);
    expand(h, from, narrow(m.stored_lines), 0);
  }
  if (entries > 0)
    copy(m.sort.keys, m.stored_indices, static_cast<std::size_t>(entries) * sizeof(int), h.stream);
  identity(h, reinterpret_cast<int*>(m.sort.payloads), entries, 0);
  sort(h, m.sort, entries, n);
  compress(h, narrow(m.sort.keys), entries, 0, n, narrow(m.crossed_offsets), 0);
  if (entries > 0)
    copy(m.crossed_from, m.sort.payloads, static_cast<std::size_t>(entries) * sizeof(int),
         h.stream);
  pick(h, narrow(m.stored_lines), m.crossed_from, entries, 0, m.crossed_lines);
}

LevelState read_state(Handle& h, const LevelState* at) {
  LevelState out{};
  copy(&out, at, sizeof out, h.stream);
  wait(h.stream);
  return out;
}

/// Orders the rows by levels; returns where each level starts, and the end of the last.
std::vector<int> find_levels(Handle& h, const Levels& l, const Triangle& t) {
  constexpr int kLanes = 8;  // that count a row's dependences
  clear(l.state, sizeof *l.state, h.stream);
  clear(l.levels, sizeof(int), h.stream);
  launch(h, kModule, "sparse_levels_open", {blocks_for(static_cast<std::int64_t>(t.rows) * kLanes)},
         kThreads, t.offsets, t.columns, l);
  launch(h, kModule, "sparse_levels_advance", {}, 1, l);
  LevelState state = read_state(h, l.state);
  while (state.last > state.first) {
    const int rows = state.last - state.first;
    if (rows <= kNarrowLevel) {
      launch(h, kModule, "sparse_levels_narrow", {}, kSolveWarps * 32, l);
    } else {
      launch(h, kModule, "sparse_levels_wide", {blocks_for(static_cast<std::int64_t>(rows) * 32)},
             kThreads, l);
      launch(h, kModule, "sparse_levels_advance", {}, 1, l);
    }
    state = read_state(h, l.state);
  }
  std::vector<int> starts(static_cast<std::size_t>(state.levels) + 1);
  copy(starts.data(), l.levels, starts.size() * sizeof(int), h.stream);
  wait(h.stream);
  return starts;
}

/// Neighbours that are narrow go together.
std::vector<LevelRun> runs_of(const std::vector<int>& starts) {
  std::vector<LevelRun> out;
  bool joins = false;
  for (int level = 0; level + 1 < static_cast<int>(starts.size()); ++level) {
    const int rows = starts[level + 1] - starts[level];
    const bool narrow_one = rows <= kNarrowLevel;
    if (joins && narrow_one) {
      out.back().last = level + 1;
      out.back().rows = std::max(out.back().rows, rows);
    } else {
      out.push_back({level, level + 1, rows});
    }
    joins = narrow_one;
  }
  return out;
}

void take_values(Handle& h, SolveDescriptor& s, const void* from, const std::string& letter) {
  if (s.entries == 0) return;
  const int conjugate = s.op == kConjugateTransposed, count = static_cast<int>(s.entries);
  launch(h, "steps", "sparse_" + letter + "pick", {blocks_for(s.entries)}, kThreads, from, s.where,
         count, conjugate, s.values);
  constexpr int kLanes = 8;  // that search a row
  if (s.triangle.unit == 0)
    launch(h, kModule, "sparse_" + letter + "diagonal",
           {blocks_for(static_cast<std::int64_t>(s.triangle.rows) * kLanes)}, kThreads, s.triangle,
           s.diagonal);
}

}  // namespace

TriangleMemory triangle_memory(const SparseMatrixDescriptor& a, void* at) {
  Buffer buffer(at);
  TriangleMemory out{};
  const std::int64_t n = a.rows, entries = a.entries;
  const auto bytes = static_cast<std::int64_t>(bytes_of(a.type));
  out.stored_offsets = buffer.take<int>(n + 1);
  out.stored_lines = buffer.take<int>(entries);
  out.stored_indices = buffer.take<int>(entries);
  out.crossed_offsets = buffer.take<int>(n + 1);
  out.crossed_lines = buffer.take<int>(entries);
  out.crossed_from = buffer.take<int>(entries);
  out.open = buffer.take<int>(n);
  out.order = buffer.take<int>(n);
  out.levels = buffer.take<int>(n + 1);
  out.state = buffer.take<LevelState>(1);
  out.values = buffer.take_bytes(entries * bytes);
  out.diagonal = buffer.take_bytes(n * bytes);
  out.sort = sort_memory(buffer, entries);
  out.bytes = buffer.bytes();
  return out;
}

void check_triangle(const SparseMatrixDescriptor* a, int op, int compute, int algorithm,
                    const char* what) {
  require(is_operation(op) && algorithm == 0);
  require(given(a).rows == a->columns);
  require(a->type == compute, kNotSupported);
  letter_of(compute, what);
  require(a->rows < kMaxIndex32 && a->entries < kMaxIndex32, kInsufficientResources);
}

void order_rows(Handle& handle, SolveDescriptor& to, int op, const SparseMatrixDescriptor& matrix,
                void* buffer) {
  to = {};
  to.op = op;
  to.type = matrix.type;
  to.entries = matrix.entries;
  to.triangle.rows = static_cast<int>(matrix.rows);
  to.triangle.upper = (matrix.fill == kUpper) != (op != kPlain);
  to.triangle.unit = matrix.diagonal == kUnit;
  if (matrix.rows == 0) {
    to.analysed = true;
    return;
  }
  require(buffer != nullptr);
  TriangleMemory memory = triangle_memory(matrix, buffer);
  make_views(handle, matrix, memory);
  const bool as_stored = lines_are_rows(matrix, op);
  Triangle& triangle = to.triangle;
  triangle.offsets = as_stored ? memory.stored_offsets : memory.crossed_offsets;
  triangle.columns = as_stored ? memory.stored_indices : memory.crossed_lines;
  triangle.values = to.values = memory.values;
  triangle.diagonal = to.diagonal = memory.diagonal;
  triangle.order = memory.order;
  triangle.levels = memory.levels;
  to.where = as_stored ? nullptr : memory.crossed_from;
  const Levels levels{.child_offsets = as_stored ? memory.crossed_offsets : memory.stored_offsets,
                      .children = as_stored ? memory.crossed_lines : memory.stored_indices,
                      .open = memory.open,
                      .order = memory.order,
                      .levels = memory.levels,
                      .state = memory.state,
                      .rows = triangle.rows,
                      .upper = triangle.upper};
  to.runs = runs_of(find_levels(handle, levels, triangle));
  to.analysed = true;
}

void analyse(Handle& h, SolveDescriptor& to, int op, const SparseMatrixDescriptor& a, void* buffer,
             const char* what) {
  order_rows(h, to, op, a, buffer);
  if (a.rows == 0) return;
  clear(to.diagonal, static_cast<std::size_t>(a.rows) * bytes_of(a.type), h.stream);
  take_values(h, to, a.values, letter_of(a.type, what));
}

void update(Handle& h, SolveDescriptor& to, const void* values, int part, const char* what) {
  require(to.analysed && values != nullptr && (part == 0 || part == 1));
  const std::string letter = letter_of(to.type, what);
  if (part == 0) {
    take_values(h, to, values, letter);
  } else if (to.triangle.unit == 0 && to.triangle.rows > 0) {
    const int* const as_they_are = nullptr;
    const int conjugate = to.op == kConjugateTransposed;
    launch(h, "steps", "sparse_" + letter + "pick", {blocks_for(to.triangle.rows)}, kThreads,
           values, as_they_are, to.triangle.rows, conjugate, to.diagonal);
  }
}

}  // namespace raddle::cusparse
