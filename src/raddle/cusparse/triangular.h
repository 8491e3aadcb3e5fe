// Triangular systems: what an analysis leaves, and what solving needs of it.
#pragma once
#include <vector>

#include "raddle/cusparse/descriptors.h"
#include "raddle/cusparse/steps.h"

namespace raddle::cusparse {

/// What the caller's buffer holds after an analysis, all of 32-bit indices from 0 on.
struct TriangleMemory {
  int *stored_offsets, *stored_lines, *stored_indices;  ///< A by its own lines
  int *crossed_offsets, *crossed_lines, *crossed_from;  ///< by their indices; where entries were
  int *open, *order, *levels;
  LevelState* state;
  void *values, *diagonal;
  SortMemory sort;
  std::size_t bytes;
};
TriangleMemory triangle_memory(const SparseMatrixDescriptor& a, void* at);

/// Levels that one launch does.
struct LevelRun {
  int first, last;  ///< last: not included
  int rows;         ///< of the widest
};

/// cusparseSpSVDescr_t and cusparseSpSMDescr_t.
struct SolveDescriptor {
  bool analysed = false;
  int op = kPlain, type = kF32;
  std::int64_t entries = 0;
  const int* where = nullptr;  ///< of values in A's; null: where they are
  Triangle triangle{};
  void *values = nullptr, *diagonal = nullptr;
  std::vector<LevelRun> runs;
};

/// Checks what both kinds of calls have; refuses by the name `what`.
void check_triangle(const SparseMatrixDescriptor* a, int op, int compute, int algorithm,
                    const char* what);
/// Levels of the rows of op(A), without its values. Waits for the stream.
void order_rows(Handle& h, SolveDescriptor& to, int op, const SparseMatrixDescriptor& a,
                void* buffer);
/// The same with the values.
void analyse(Handle& h, SolveDescriptor& to, int op, const SparseMatrixDescriptor& a, void* buffer,
             const char* what);
/// part: 0 all values, 1 those of the diagonal only.
void update(Handle& h, SolveDescriptor& to, const void* values, int part, const char* what);

}  // namespace raddle::cusparse
