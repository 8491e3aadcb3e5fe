// What kernels of Hopper are made of: copies of boxes by the tensor memory unit, barrier objects
// that they arrive at, and products that a warpgroup of 128 threads starts and waits for (PTX ISA
// 9.0, "Asynchronous Warpgroup Level Matrix Instructions"). Matrices in shared memory lie by rows
// of 128 bytes, 64 halves, swizzled by 128 bytes; eight rows are a group of 1,024 bytes.
#pragma once
#include "common/mma_lite.h"

/// CUtensorMap. In global memory, as clang 19 has no way to take a parameter's address.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

// --- barrier objects -----------------------------------------------------------------------------
static __device__ __forceinline__ void init_object(SharedAddress at, unsigned arrivals) {
  __asm__ volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at), "r"(arrivals) : "memory");
}
/// Arrives, and the phase waits for so many bytes of copies.
static __device__ __forceinline__ void arrive_and_expect(SharedAddress at, unsigned bytes) {
  __asm__ volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(at), "r"(bytes)
                   : "memory");
}
static __device__ __forceinline__ void arrive(SharedAddress at) {
  __asm__ volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(at) : "memory");
}
/// At the object of the same place in the block of that rank in the cluster.
static __device__ __forceinline__ void arrive_at_rank(SharedAddress at, unsigned rank) {
  __asm__ volatile(
      "{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}"
      :
      : "r"(at), "r"(rank)
      : "memory");
}
/// Until the phase of that parity is over.
static __device__ __forceinline__ void wait_for_phase(SharedAddress at, unsigned parity) {
  __asm__ volatile(
      "{\n\t.reg .pred over;\n$AGAIN_%=:\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], %1;\n\t"
      "@!over bra $AGAIN_%=;\n\t}"
      :
      : "r"(at), "r"(parity)
      : "memory");
}
static __device__ __forceinline__ void show_objects() {
  __asm__ volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}
static __device__ __forceinline__ void sync_cluster() {
  __asm__ volatile(
      "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;"
      :
      :
      : "memory");
}
static __device__ __forceinline__ unsigned rank_in_cluster() {
  unsigned rank;
  __asm__("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Stages in turn; the parity of their objects changes with each round.
struct Turn {
  unsigned stage = 0, parity = 0;
  __device__ __forceinline__ void next(unsigned stages) {
    if (++stage != stages) return;
    stage = 0;
    parity ^= 1;
  }
};

// --- copies --------------------------------------------------------------------------------------
/// The box at column `x`, row `y`; its bytes arrive at the object `full`.
static __device__ __forceinline__ void copy_box(SharedAddress to, const TensorMap* map,
                                                SharedAddress full, unsigned x, unsigned y) {
  __asm__ volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];"
      :
      : "r"(to), "l"(map), "r"(full), "r"(x), "r"(y)
      : "memory");
}
/// The same to the same place of several blocks of the cluster, a bit each, and their objects.
static __device__ __forceinline__ void copy_box_to_blocks(SharedAddress to, const TensorMap* map,
                                                          SharedAddress full, unsigned x,
                                                          unsigned y, unsigned short blocks) {
  __asm__ volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
      :
      : "r"(to), "l"(map), "r"(full), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

/// The box at column `x`, row `y` of matrix `layer`.
static __device__ __forceinline__ void copy_box(SharedAddress to, const TensorMap* map,
                                                SharedAddress full, unsigned x, unsigned y,
                                                unsigned layer) {
  __asm__ volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];"
      :
      : "r"(to), "l"(map), "r"(full), "r"(x), "r"(y), "r"(layer)
      : "memory");
}
/// The same back to global memory; what lies outside of the matrix is left out.
static __device__ __forceinline__ void store_box(const TensorMap* map, SharedAddress from,
                                                 unsigned x, unsigned y, unsigned layer) {
  __asm__ volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
      :
      : "l"(map), "r"(from), "r"(x), "r"(y), "r"(layer)
      : "memory");
}
/// All boxes that the thread has asked to be stored have been read.
static __device__ __forceinline__ void wait_for_stores_to_read() {
  __asm__ volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;"
                   :
                   :
                   : "memory");
}
/// What threads have stored in shared memory is there for copies and products.
static __device__ __forceinline__ void show_to_units() {
  __asm__ volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

// --- named barriers ------------------------------------------------------------------------------
/// Of `threads` threads in whole warps; number 0 is __syncthreads'.
static __device__ __forceinline__ void sync_at(unsigned barrier, unsigned threads) {
  __asm__ volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}
static __device__ __forceinline__ void arrive_at(unsigned barrier, unsigned threads) {
  __asm__ volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
}

// --- products ------------------------------------------------------------------------------------
/// Registers of the threads of a warpgroup from here on, fewer or more.
template <unsigned kRegisters>
static __device__ __forceinline__ void give_registers() {
  __asm__ volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kRegisters));
}
template <unsigned kRegisters>
static __device__ __forceinline__ void take_registers() {
  __asm__ volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kRegisters));
}
/// Of a matrix of rows of 128 bytes, swizzled; 32 bytes further in a row is 2 more.
static __device__ __forceinline__ unsigned long long matrix_at(SharedAddress at) {
  constexpr unsigned long long kBetweenGroups = 1024 >> 4, kSwizzle128 = 1;
  return (at >> 4 & 0x3fff) | 1ull << 16 | kBetweenGroups << 32 | kSwizzle128 << 62;
}
/// Of a matrix whose rows are along the depth, in parts of 64 columns, swizzled, that lie `apart`
/// bytes from one another; 16 rows further is 128 more.
static __device__ __forceinline__ unsigned long long rows_at(SharedAddress at, unsigned apart) {
  constexpr unsigned long long kBetweenGroups = 1024 >> 4, kSwizzle128 = 1;
  return (at >> 4 & 0x3fff) | static_cast<unsigned long long>(apart >> 4) << 16 |
         kBetweenGroups << 32 | kSwizzle128 << 62;
}
/// Before the first product, and after the sums have been written otherwise.
static __device__ __forceinline__ void fence_products() {
  __asm__ volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
static __device__ __forceinline__ void end_product_group() {
  __asm__ volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// All groups but the youngest `kGroups` are there.
template <int kGroups>
static __device__ __forceinline__ void wait_for_products() {
  __asm__ volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(kGroups) : "memory");
}

/// 64 x kColumns sums over a warpgroup: thread 32 w + 4 g + t has of rows 16 w + g and 8 more the
/// columns 8 i + 2 t and the next, at[4 i], at[4 i + 1] and at[4 i + 2], at[4 i + 3].
template <unsigned kColumns>
struct GroupSums {
  float at[kColumns / 2];
};
#define SUMS_8(i)                                                                            \
  "+f"(s.at[i]), "+f"(s.at[i + 1]), "+f"(s.at[i + 2]), "+f"(s.at[i + 3]), "+f"(s.at[i + 4]), \
      "+f"(s.at[i + 5]), "+f"(s.at[i + 6]), "+f"(s.at[i + 7])
#define SUMS_32(i) SUMS_8(i), SUMS_8(i + 8), SUMS_8(i + 16), SUMS_8(i + 24)
#define NAMES_10(t) \
  "%" t "0, %" t "1, %" t "2, %" t "3, %" t "4, %" t "5, %" t "6, %" t "7, %" t "8, %" t "9, "
#define NAMES_30 NAMES_10("") NAMES_10("1") NAMES_10("2")
#define NAMES_60 NAMES_30 NAMES_10("3") NAMES_10("4") NAMES_10("5")
#define NAMES_80 NAMES_60 NAMES_10("6") NAMES_10("7")
#define NAMES_120 NAMES_80 NAMES_10("8") NAMES_10("9") NAMES_10("10") NAMES_10("11")
/// Both factors in shared memory. The first product of a sum replaces what is there. The names of
/// the operands behind the sums are given.
#define PRODUCT_OF_SHARED(name, columns, order, names, l, r, is_first, ...)                   \
  static __device__ __forceinline__ void name(GroupSums<columns>& s, unsigned long long left, \
                                              unsigned long long right, bool first) {         \
    __asm__ volatile("{\n\t.reg .pred add;\n\tsetp.eq.u32 add, " is_first                     \
                     ", 0;\n\t"                                                               \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" names   \
                     "}, " l ", " r ", add, 1, 1, " order ";\n\t}"                            \
                     : __VA_ARGS__                                                            \
                     : "l"(left), "l"(right), "r"(first ? 1u : 0u)                            \
                     : "memory");                                                             \
  }
/// `left`: 64 x 16, `right`: columns x 16.
#define PRODUCT_OF_COLUMNS(columns, ...) \
  PRODUCT_OF_SHARED(add_group_product, columns, "0, 0", __VA_ARGS__)
PRODUCT_OF_COLUMNS(128, NAMES_60 "%60, %61, %62, %63", "%64", "%65", "%66", SUMS_32(0), SUMS_32(32))
PRODUCT_OF_COLUMNS(176, NAMES_80 "%80, %81, %82, %83, %84, %85, %86, %87", "%88", "%89", "%90",
                   SUMS_32(0), SUMS_32(32), SUMS_8(64), SUMS_8(72), SUMS_8(80))
PRODUCT_OF_COLUMNS(192, NAMES_80 NAMES_10("8") "%90, %91, %92, %93, %94, %95", "%96", "%97", "%98",
                   SUMS_32(0), SUMS_32(32), SUMS_32(64))
PRODUCT_OF_COLUMNS(256, NAMES_120 "%120, %121, %122, %123, %124, %125, %126, %127", "%128", "%129",
                   "%130", SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96))
/// `left`: 64 x 16, `right`: 16 x columns.
PRODUCT_OF_SHARED(add_group_product_of_rows, 64, "0, 1", NAMES_30 "%30, %31", "%32", "%33", "%34",
                  SUMS_32(0))
/// `left`: halves of the thread's registers, laid out as sums of 16 columns are; `right`: 16 x
/// columns, its rows in shared memory.
#define PRODUCT_OF_REGISTERS(columns, names, a, r, is_first, ...)                           \
  static __device__ __forceinline__ void add_group_product(                                 \
      GroupSums<columns>& s, const unsigned* left, unsigned long long right, bool first) {  \
    __asm__ volatile("{\n\t.reg .pred add;\n\tsetp.eq.u32 add, " is_first                   \
                     ", 0;\n\t"                                                             \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" names \
                     "}, {" a "}, " r ", add, 1, 1, 1;\n\t}"                                \
                     : __VA_ARGS__                                                          \
                     : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right),  \
                       "r"(first ? 1u : 0u)                                                 \
                     : "memory");                                                           \
  }
PRODUCT_OF_REGISTERS(64, NAMES_30 "%30, %31", "%32, %33, %34, %35", "%36", "%37", SUMS_32(0))
PRODUCT_OF_REGISTERS(128, NAMES_60 "%60, %61, %62, %63", "%64, %65, %66, %67", "%68", "%69",
                     SUMS_32(0), SUMS_32(32))
#undef PRODUCT_OF_REGISTERS
#undef PRODUCT_OF_COLUMNS
#undef PRODUCT_OF_SHARED
#undef NAMES_120
#undef NAMES_80
#undef NAMES_60
#undef NAMES_30
#undef NAMES_10
#undef SUMS_32
#undef SUMS_8
