// Products of a warpgroup (PTX ISA 9.0, 9.7.15: wgmma.mma_async): four warps, of which warp w has
// rows 16 w to 16 w + 15 of A and D.
//
// Each warp computes its rows when it issues, from what shared memory holds then; PTX lets nobody
// change that before the product has been waited for. A warp that waits for a group goes on when
// all four have come so far (Runner::arrive_at_warpgroup), so whoever waits may tell others that
// the operands have been read.
//
// Of a sparse A two elements of each four along K are there, of tf32 one of two; metadata says
// which (two bits each; of tf32 as of its halves). Which thread has whose metadata is as the
// layouts of CUTLASS's sparse traits for sm_90 have it.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "raddle/exec/slow/matrix.h"
#include "raddle/exec/slow/shared_matrix.h"

namespace raddle::exec {

/// d = scale_d * d + a * b; sums as MatrixProduct makes them.
class WarpgroupProduct final : public SlowInstruction {
 public:
  static constexpr unsigned kRows = 16;                         ///< of a warp
  static constexpr unsigned kRowBytes = 32;                     ///< along K
  static constexpr unsigned kMaxColumns = 256, kMaxDepth = 64;  ///< of elements of 8 bits, sparse

  Element a_element = Element::None, b_element = Element::None, d_element = Element::None;
  unsigned columns = 0;                              ///< N
  std::vector<std::uint32_t> d;                      ///< registers
  std::vector<std::uint32_t> a;                      ///< registers, four; empty: a_descriptor
  std::uint32_t a_descriptor = 0, b_descriptor = 0;  ///< registers, 64 bits
  bool a_along_m = false, b_along_n = false;         ///< the order in shared memory
  bool a_negated = false, b_negated = false;
  std::uint32_t scale_d = 0;  ///< predicate
  bool scale_d_negated = false;
  MatrixProduct::Bits bits = MatrixProduct::Bits::None;
  bool satfinite = false;
  std::optional<std::uint32_t> metadata;  ///< register, if A is sparse
  unsigned selector = 0;                  ///< which threads of four have it
  void run(const SlowRun& run) const override;

 private:
  struct Bytes;
  using Sums = std::array<std::array<double, kMaxColumns>, kMaxDepth>;  ///< of D kRows rows
  /// Elements of a row of A that are there; of B and of the product twice as many if A is sparse.
  unsigned depth() const { return 8 * kRowBytes / bits_of(a_element); }
  unsigned b_row_bytes() const { return metadata ? 2 * kRowBytes : kRowBytes; }
  void find_places(const SlowRun& run, Bytes& out) const;
  void read_shared(const SlowRun& run, bool is_a, char* to) const;
  void read_sums(const SlowRun& run, Sums& sums) const;
  void write_sums(const SlowRun& run, const Sums& sums) const;
  void read_values(const SlowRun& run, Element element, const char* from, unsigned apart,
                   unsigned count, bool negated, double* to) const;
  void real(const SlowRun& run, const Bytes& from, bool accumulates) const;
  void whole(const SlowRun& run, const Bytes& from, bool accumulates) const;
};

}  // namespace raddle::exec
