// The dimensions of a plan, one after another.
#include "raddle/cufft/transform.h"

#include "raddle/cufft/passes.h"
#include "raddle/cufft/status.h"

namespace raddle::cufft {

namespace {

class Dimensions {
 public:
  Dimensions(const Shape& shape, Tables& tables)
      : shape_(shape), passes_(is_double(shape.type), tables, program_) {}

  Program complex() {
    Layout from = shape_.in;
    Buffer buffer = Buffer::kIn;
    for (int d = shape_.rank - 1; d >= 0; --d) {
      if (d < shape_.rank - 1 && shape_.n[d] == 1) continue;
      transform(d, {buffer, 0}, from, {Buffer::kOut, 0}, shape_.out, shape_.n[shape_.rank - 1]);
      from = shape_.out;
      buffer = Buffer::kOut;
    }
    return program_;
  }

  Program forward_real(bool pairs) {
    const int inner = shape_.rank - 1;
    const auto n = static_cast<int>(shape_.n[inner]);
    Lines lines = lines_of(inner, {Buffer::kIn, 0}, shape_.in, {Buffer::kOut, 0}, shape_.out,
                           shape_.n[inner]);
    lines.from.swap = lines.to.swap = Swap::kNever;
    if (n % 2 == 0) {
      lines.n = lines.from.count = lines.to.count = n / 2;
      lines.from.kind = kPair;
      if (pairs) as_complex(lines.from, lines.loops, &Axis::in);
      passes_.real_forward(lines);
    } else {
      lines.from.kind = kReal;
      lines.to.count = n / 2 + 1;
      passes_.transform(lines);
    }
    for (int d = inner - 1; d >= 0; --d)
      if (shape_.n[d] > 1)
        transform(d, {Buffer::kOut, 0}, shape_.out, {Buffer::kOut, 0}, shape_.out, n / 2 + 1);
    return program_;
  }

  /// The other dimensions come first, by way of the work area: what the program gave stays.
  Program inverse_real(bool pairs) {
    const int inner = shape_.rank - 1;
    const auto n = static_cast<int>(shape_.n[inner]);
    Layout from = shape_.in;
    Location at{Buffer::kIn, 0};
    const Layout between = dense(n / 2 + 1);
    Location work;
    for (int d = 0; d < inner; ++d) {
      if (shape_.n[d] == 1) continue;
      if (at.buffer == Buffer::kIn)
        work = passes_.take(static_cast<std::size_t>(between.batch_stride * shape_.batch));
      transform(d, at, from, work, between, n / 2 + 1);
      at = work;
      from = between;
    }
    Lines lines = lines_of(inner, at, from, {Buffer::kOut, 0}, shape_.out, n);
    lines.from.swap = lines.to.swap = Swap::kAlways;
    if (n % 2 == 0) {
      lines.n = lines.from.count = lines.to.count = n / 2;
      lines.to.kind = kPair;
      if (pairs) as_complex(lines.to, lines.loops, &Axis::out);
      passes_.real_inverse(lines);
    } else {
      lines.from.kind = kHermitian;
      lines.to.kind = kReal;
      passes_.transform(lines);
    }
    return program_;
  }

 private:
  /// Along dimension d, of which the innermost one has `inner` elements.
  Lines lines_of(int d, Location in, const Layout& from, Location out, const Layout& to,
                 long long inner) const {
    const auto n = static_cast<int>(shape_.n[d]);
    Lines lines{n,
                {.at = in, .step = from.strides[d], .count = n, .swap = Swap::kIfInverse},
                {.at = out, .step = to.strides[d], .count = n, .swap = Swap::kIfInverse},
                {}};
    if (!is_complex(shape_.type) && !is_forward_real(shape_.type))
      lines.from.swap = lines.to.swap = Swap::kAlways;
    for (int other = shape_.rank - 1; other >= 0; --other)
      if (other != d)
        lines.loops.push_back(
            {.in = from.strides[other],
             .out = to.strides[other],
             .count = static_cast<unsigned>(other == shape_.rank - 1 ? inner : shape_.n[other])});
    lines.loops.push_back({.in = from.batch_stride,
                           .out = to.batch_stride,
                           .count = static_cast<unsigned>(shape_.batch)});
    return lines;
  }
  void transform(int d, Location in, const Layout& from, Location out, const Layout& to,
                 long long inner) {
    passes_.transform(lines_of(d, in, from, out, to, inner));
  }

  /// Of complex numbers, the innermost dimension of `inner` elements, without gaps.
  Layout dense(long long inner) const {
    Layout out{};
    long long next = 1;
    for (int d = shape_.rank - 1; d >= 0; --d) {
      out.strides[d] = next;
      next *= d == shape_.rank - 1 ? inner : shape_.n[d];
    }
    out.batch_stride = next;
    return out;
  }

  /// Two real numbers as one complex number, where they always lie side by side.
  static void as_complex(Side& side, std::vector<Axis>& loops, long long Axis::*stride) {
    bool even = side.step == 1;
    for (const Axis& loop : loops) even = even && (loop.count == 1 || loop.*stride % 2 == 0);
    if (!even) return;
    side.kind = kComplex;
    for (Axis& loop : loops) loop.*stride /= 2;
  }

  const Shape& shape_;
  Program program_;
  Passes passes_;
};

}  // namespace

Program make_program(const Shape& shape, bool pairs, Tables& tables) {
  Dimensions dimensions(shape, tables);
  if (is_complex(shape.type)) return dimensions.complex();
  return is_forward_real(shape.type) ? dimensions.forward_real(pairs)
                                     : dimensions.inverse_real(pairs);
}

}  // namespace raddle::cufft
