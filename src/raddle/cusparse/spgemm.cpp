// Products of sparse matrices, in the calls that NVIDIA's interface divides them into: how many
// products each row has, how many entries, then what they are. The reusable kind keeps in one
// buffer what it needs to compute the same product with other values.
#include "raddle/cusparse/descriptors.h"
#include "raddle/cusparse/steps.h"

namespace raddle::cusparse {

/// In the caller's first buffer.
struct Estimate {
  long long* products;
  int* lists;
  unsigned long long* table_at;
  SpgemmState* state;
  std::size_t bytes;
};
/// In the second.
struct Tables {
  int *offsets, *sums, *keys;
  void* values;
  std::size_t bytes;
};

/// cusparseSpGEMMDescr_t.
struct ProductDescriptor {
  void* estimate_at = nullptr;
  void* tables_at = nullptr;
  SpgemmState state{};
  bool estimated = false, counted = false;
};

namespace {

constexpr const char* kModule = "spgemm";
constexpr std::size_t kOneLine = 256;  // never 0: no memory would be asked for, none be given

struct Call {
  const SparseMatrixDescriptor &a, &b;
  SparseMatrixDescriptor& c;
  ProductDescriptor& product;
  std::string letter;
};

Estimate estimate_of(const Call& call, void* at) {
  const std::int64_t rows = call.a.rows;
  Buffer buffer(at);
  Estimate out{};
  out.products = buffer.take<long long>(rows);
  out.lists = buffer.take<int>(kGemmClasses * rows);
  out.table_at = buffer.take<unsigned long long>(rows);
  out.state = buffer.take<SpgemmState>(1);
  out.bytes = buffer.bytes();
  return out;
}
Tables tables_of(const Call& call, void* at) {
  Buffer buffer(at);
  const auto entries = static_cast<std::int64_t>(call.product.state.table_entries);
  Tables out{};
  out.offsets = buffer.take<int>(call.a.rows + 1);
  out.sums = buffer.take<int>(scan_sums(call.a.rows));
  out.keys = buffer.take<int>(entries);
  out.values = buffer.take_bytes(entries * static_cast<std::int64_t>(bytes_of(call.c.type)));
  out.bytes = buffer.bytes() + kOneLine;
  return out;
}

Call checked(int op_a, int op_b, const SparseMatrixDescriptor* a, const SparseMatrixDescriptor* b,
             SparseMatrixDescriptor* c, int compute, int algorithm, ProductDescriptor* product) {
  constexpr int kAlgorithms = 6;
  require(is_operation(op_a) && is_operation(op_b) && algorithm >= 0 && algorithm < kAlgorithms);
  Call out{given(a), given(b), given(c), given(product), {}};
  require(a->columns == b->rows && a->rows == c->rows && b->columns == c->columns);
  require(op_a == kPlain && op_b == kPlain, kNotSupported);
  constexpr std::int64_t kMaxWidth = std::int64_t{1} << 29;  // sizes of tables are 32-bit numbers
  require(b->columns <= kMaxWidth, kInsufficientResources);
  for (const SparseMatrixDescriptor* one : {a, b, static_cast<const SparseMatrixDescriptor*>(c)}) {
    require(one->format == kCsr && one->first_type == kIndex32 && one->second_type == kIndex32,
            kNotSupported);
    require(one->type == compute, kNotSupported);
  }
  out.letter = letter_of(compute, "cusparseSpGEMM");
  return out;
}

/// Products of rows, and rows by classes. Waits for the stream.
void estimate(Handle& h, const Call& call, void* at) {
  const Estimate memory = estimate_of(call, at);
  const Sparse a = sparse_of(call.a), b = sparse_of(call.b);
  clear(memory.state, sizeof *memory.state, h.stream);
  if (a.lines > 0) {
    constexpr int kLanes = 8;  // of a row
    launch(h, kModule, "sparse_spgemm_products", {blocks_for(a.lines * kLanes)}, kThreads, a, b,
           memory.products, memory.state);
    launch(h, kModule, "sparse_spgemm_classes", {blocks_for(a.lines)}, kThreads,
           static_cast<const long long*>(memory.products), static_cast<int>(a.lines), b.width,
           memory.lists, memory.table_at, memory.state);
  }
  copy(&call.product.state, memory.state, sizeof(SpgemmState), h.stream);
  wait(h.stream);
  call.product.estimate_at = at;
  call.product.estimated = true;
  call.product.counted = false;
}

/// One kernel for each class of rows that there are.
void each_class(Handle& h, const Call& call, Spgemm p, const std::string& stem) {
  const Estimate estimate = estimate_of(call, call.product.estimate_at);
  const Tables tables = tables_of(call, call.product.tables_at);
  p.a = sparse_of(call.a);
  p.b = sparse_of(call.b);
  p.products = estimate.products;
  p.table_at = estimate.table_at;
  p.table_keys = tables.keys;
  p.table_values = tables.values;
  constexpr const char* kNames[kGemmClasses] = {"small", "medium", "large"};
  for (int which = 0; which < kGemmClasses; ++which) {
    p.row_count = static_cast<int>(call.product.state.rows[which]);
    p.rows = estimate.lists + which * call.a.rows;
    if (p.row_count == 0) continue;
    const bool warps = which == 0;
    launch(h, kModule, stem + kNames[which],
           {warps ? blocks_for(p.row_count, kSmallWarps) : static_cast<unsigned>(p.row_count)},
           warps ? kSmallWarps * 32 : kMediumThreads, p);
  }
}

/// Entries of C: its offsets, and how many there are. Waits for the stream.
void count(Handle& h, const Call& call, void* at) {
  require(call.product.estimated);
  call.product.tables_at = at;
  const Tables memory = tables_of(call, at);
  clear(memory.offsets, static_cast<std::size_t>(call.a.rows + 1) * sizeof(int), h.stream);
  Spgemm p{};
  p.counts = memory.offsets;
  each_class(h, call, p, "sparse_spgemm_count_");
  scan(h, static_cast<const int*>(memory.offsets), call.a.rows, 0, memory.offsets, memory.sums);
  int entries = 0;
  copy(&entries, memory.offsets + call.a.rows, sizeof entries, h.stream);
  wait(h.stream);
  require(entries >= 0, kInsufficientResources);  // 2^31 and more
  call.c.entries = entries;
  call.product.counted = true;
}

/// The columns and values of C; its offsets, too, where they are not there yet.
void fill(Handle& h, const Call& call, const Scale& alpha, const Scale& beta, bool with_offsets) {
  require(call.product.counted);
  require(call.c.first != nullptr);
  require(call.c.entries == 0 || (call.c.second != nullptr && call.c.values != nullptr));
  const Tables memory = tables_of(call, call.product.tables_at);
  if (with_offsets)
    pick(h, narrow(memory.offsets), nullptr, call.a.rows + 1, call.c.base,
         static_cast<int*>(call.c.first));
  Spgemm p{};
  p.offsets = memory.offsets;
  p.c_indices = call.c.second;
  p.c_values = call.c.values;
  p.c_base = call.c.base;
  p.alpha = alpha;
  p.beta = beta;
  each_class(h, call, p, "sparse_" + call.letter + "spgemm_");
}

constexpr Scale kOne = {nullptr, 1, 0}, kZero = {nullptr, 0, 0};

}  // namespace

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

#define SPGEMM_PARAMETERS                                                                        \
  Handle *handle, int op_a, int op_b, const void *alpha, const SparseMatrixDescriptor *a,        \
      const SparseMatrixDescriptor *b, const void *beta, SparseMatrixDescriptor *c, int compute, \
      int algorithm, ProductDescriptor *product
#define REUSE_PARAMETERS                                                         \
  Handle *handle, int op_a, int op_b, const SparseMatrixDescriptor *a,           \
      const SparseMatrixDescriptor *b, SparseMatrixDescriptor *c, int algorithm, \
      ProductDescriptor *product

extern "C" {

int raddle_cusparseSpGEMM_createDescr(ProductDescriptor** to) {
  return guarded([&] {
    require(to != nullptr);
    *to = new ProductDescriptor;
  });
}
int raddle_cusparseSpGEMM_destroyDescr(ProductDescriptor* product) {
  if (product == nullptr) return kInvalidValue;
  delete product;
  return kSuccess;
}

int raddle_cusparseSpGEMM_workEstimation(SPGEMM_PARAMETERS, std::size_t* bytes, void* buffer) {
  return call(handle, [&](Handle& h) {
    require(alpha != nullptr && beta != nullptr && bytes != nullptr);
    const Call all = checked(op_a, op_b, a, b, c, compute, algorithm, product);
    if (buffer == nullptr) *bytes = estimate_of(all, nullptr).bytes;
    else estimate(h, all, buffer);
  });
}
int raddle_cusparseSpGEMM_getNumProducts(ProductDescriptor* product, std::int64_t* to) {
  return guarded([&] {
    require(given(product).estimated);
    given(to) = product->state.products;
  });
}
/// The tables need no more than they are: there are no chunks.
int raddle_cusparseSpGEMM_estimateMemory(SPGEMM_PARAMETERS, float, std::size_t* bytes3,
                                         void* buffer3, std::size_t* bytes2) {
  return call(handle, [&](Handle&) {
    require(alpha != nullptr && beta != nullptr);
    const Call all = checked(op_a, op_b, a, b, c, compute, algorithm, product);
    require(product->estimated);
    if (buffer3 == nullptr) given(bytes3) = kOneLine;
    else given(bytes2) = tables_of(all, nullptr).bytes;
  });
}
int raddle_cusparseSpGEMM_compute(SPGEMM_PARAMETERS, std::size_t* bytes, void* buffer) {
  return call(handle, [&](Handle& h) {
    require(alpha != nullptr && beta != nullptr && bytes != nullptr);
    const Call all = checked(op_a, op_b, a, b, c, compute, algorithm, product);
    require(product->estimated);
    if (buffer == nullptr) *bytes = tables_of(all, nullptr).bytes;
    else count(h, all, buffer);
  });
}
int raddle_cusparseSpGEMM_copy(SPGEMM_PARAMETERS) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, a, b, c, compute, algorithm, product);
    fill(h, all, scale_of(h, alpha, compute), scale_of(h, beta, compute), true);
  });
}

int raddle_cusparseSpGEMMreuse_workEstimation(REUSE_PARAMETERS, std::size_t* bytes, void* buffer) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, a, b, c, given(c).type, algorithm, product);
    if (buffer == nullptr) given(bytes) = estimate_of(all, nullptr).bytes;
    else estimate(h, all, buffer);
  });
}
/// The caller frees its first buffer after this; so the fourth gets all of it.
int raddle_cusparseSpGEMMreuse_nnz(REUSE_PARAMETERS, std::size_t* bytes2, void* buffer2,
                                   std::size_t* bytes3, void* buffer3, std::size_t* bytes4,
                                   void* buffer4) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, a, b, c, given(c).type, algorithm, product);
    require(product->estimated);
    const std::size_t kept = estimate_of(all, nullptr).bytes;
    if (buffer2 == nullptr && buffer3 == nullptr && buffer4 == nullptr) {
      given(bytes2) = given(bytes3) = kOneLine;
      given(bytes4) = kept + tables_of(all, nullptr).bytes;
      return;
    }
    require(buffer4 != nullptr);
    copy(buffer4, product->estimate_at, kept, h.stream);
    product->estimate_at = buffer4;
    count(h, all, static_cast<char*>(buffer4) + kept);
  });
}
int raddle_cusparseSpGEMMreuse_copy(REUSE_PARAMETERS, std::size_t* bytes, void* buffer) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, a, b, c, given(c).type, algorithm, product);
    if (buffer == nullptr) given(bytes) = kOneLine;
    else fill(h, all, kOne, kZero, true);
  });
}
int raddle_cusparseSpGEMMreuse_compute(SPGEMM_PARAMETERS) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, a, b, c, compute, algorithm, product);
    fill(h, all, scale_of(h, alpha, compute), scale_of(h, beta, compute), false);
  });
}

}  // extern "C"
