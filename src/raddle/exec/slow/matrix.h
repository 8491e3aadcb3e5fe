// Matrix fragments: which element of a matrix each lane's registers hold (PTX ISA 9.0, 9.7.14.5,
// "Matrix fragments for mma"), and products of them.
//
// PTX documents these layouts for mma. For wmma it leaves them open; ours are those of the mma
// instructions that make up the product, tile after tile, as on sm_80 and later. A wmma fragment
// with more registers than it needs (f16 operands) holds its elements more than once.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

enum class Element : std::uint8_t {
  None,
  F16,
  BF16,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  S8,
  U8,
  S4,
  U4,
  B1,
  S32,
};
inline bool is_float8(Element e) { return e == Element::E4M3 || e == Element::E5M2; }
/// None when there is no such matrix element.
Element element_named(std::string_view word);
unsigned bits_of(Element element);
bool is_integer(Element element);

/// Values of real elements, of their bits, and the other way about: rounded to the nearest.
void element_values(Element element, const std::uint32_t* bits, unsigned count, double* values);
void element_bits(Element element, const double* values, unsigned count, std::uint32_t* bits);

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;
};
/// "m16n8k16"; all zero when it is none.
MatrixShape shape_named(std::string_view word);

enum class Role : std::uint8_t { A, B, C };

struct Fragment {
  Element element = Element::None;
  unsigned rows = 0, columns = 0;
  unsigned registers = 0;     ///< of a lane
  unsigned per_register = 1;  ///< elements, lowest bits first
  unsigned products = 1;      ///< m8n8k4 of f16 does four at a time, each with matrices of its own
  /// By (lane, register, element in it): product * rows * columns + row * columns + column.
  std::vector<std::uint16_t> place;

  unsigned per_lane() const { return registers * per_register; }
  unsigned size() const { return products * rows * columns; }
};

/// The layout of a fragment in `registers` registers; null when they cannot hold it evenly.
std::shared_ptr<const Fragment> make_fragment(Role role, MatrixShape shape, Element element,
                                              unsigned registers);
/// Of mma.m8n8k4 with f16 operands, where the layout also depends on A's and B's order (`row`).
std::shared_ptr<const Fragment> make_quad_fragment(Role role, Element element, bool row);

/// A fragment's registers in a frame.
struct FragmentRegisters {
  std::shared_ptr<const Fragment> fragment;
  std::vector<std::uint32_t> at;
};

/// d = a * b + c for mma and wmma.mma. Real elements are summed in double precision, c first, then
/// in the order of k, and rounded once; PTX asks for single precision at least and leaves order and
/// rounding open. f64 is a chain of fused multiply-adds in the same order. Integers wrap, or stop
/// at the ends with .satfinite.
class MatrixProduct final : public SlowInstruction {
 public:
  enum class Bits : std::uint8_t { None, Xor, And };  ///< of single-bit matrices, before popc
  FragmentRegisters d, a, b, c;
  unsigned depth = 0;  ///< K
  Bits bits = Bits::None;
  bool satfinite = false;
  int rounding = 0;  ///< of f64: as O_round
  void run(const SlowRun& run) const override;

 private:
  void real(const SlowRun& run) const;
  void whole(const SlowRun& run) const;
  void wide(const SlowRun& run) const;
};

/// wmma.load and wmma.store.
class MatrixAccess final : public SlowInstruction {
 public:
  FragmentRegisters data;
  SlowAddress address;
  std::uint32_t stride = 0;  ///< register: elements from one row (column) to the next
  bool row_major = true, store = false;
  void run(const SlowRun& run) const override;
};

/// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements, their rows at the addresses of eight
/// lanes each.
class MatrixRows final : public SlowInstruction {
 public:
  std::vector<std::uint32_t> at;  ///< one register for each matrix
  SlowAddress address;
  bool transposed = false, store = false;
  void run(const SlowRun& run) const override;
};

/// movmatrix.
class MatrixTranspose final : public SlowInstruction {
 public:
  std::uint32_t d = 0, a = 0;
  void run(const SlowRun& run) const override;
};

}  // namespace raddle::exec
