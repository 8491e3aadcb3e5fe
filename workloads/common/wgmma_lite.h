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
#define NAMES_60 NAMES_10("") NAMES_10("1") NAMES_10("2") NAMES_10("3") NAMES_10("4") NAMES_10("5")
#define NAMES_120 \
  NAMES_60 NAMES_10("6") NAMES_10("7") NAMES_10("8") NAMES_10("9") NAMES_10("10") NAMES_10("11")
/// `left`: 64 x 16, `right`: kColumns x 16. The first product of a sum replaces what is there.
static __device__ __forceinline__ void add_group_product(GroupSums<128>& s, unsigned long long left,
                                                         unsigned long long right, bool first) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.eq.u32 add, %66, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" NAMES_60
      "%60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 0;\n\t}"
      : SUMS_32(0), SUMS_32(32)
      : "l"(left), "l"(right), "r"(first ? 1u : 0u)
      : "memory");
}
static __device__ __forceinline__ void add_group_product(GroupSums<256>& s, unsigned long long left,
                                                         unsigned long long right, bool first) {
  __asm__ volatile(
      "{\n\t.reg .pred add;\n\tsetp.eq.u32 add, %130, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" NAMES_120
      "%120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, add, 1, 1, 0, 0;\n\t}"
      : SUMS_32(0), SUMS_32(32), SUMS_32(64), SUMS_32(96)
      : "l"(left), "l"(right), "r"(first ? 1u : 0u)
      : "memory");
}
#undef NAMES_120
#undef NAMES_60
#undef NAMES_10
#undef SUMS_32
#undef SUMS_8
