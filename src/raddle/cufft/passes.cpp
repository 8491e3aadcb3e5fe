#include "raddle/cufft/passes.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "raddle/cufft/blocks.h"
#include "raddle/cufft/factors.h"
#include "raddle/cufft/status.h"

namespace raddle::cufft {

namespace {

/// What a block does well where threads go by lines: four lines of it still fit.
constexpr int kMaxStrided = 1024;

/// Of Bluestein's convolution for a transform of n.
int convolution_length(int n) {
  return static_cast<int>(std::bit_ceil(2 * static_cast<unsigned>(n) - 1));
}

/// Whether neighbouring lines lie closer together than neighbouring elements.
bool is_by_lines(const Side& side, const std::vector<Axis>& loops, long long Axis::*stride) {
  const long long apart = side.step * (side.kind == kPair ? 2 : 1);
  return std::ranges::any_of(
      loops, [&](const Axis& loop) { return loop.count > 1 && loop.*stride < apart; });
}

std::size_t line_count(const std::vector<Axis>& loops) {
  std::size_t count = 1;
  for (const Axis& loop : loops) count *= loop.count;
  return count;
}

}  // namespace

Location Passes::take(std::size_t elements) {
  constexpr std::size_t kAlignment = 256;  // of cudaMalloc
  const Location out{Buffer::kWork, taken_};
  taken_ += (elements * complex_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  program_.work_bytes = std::max(program_.work_bytes, taken_);
  return out;
}

Side Passes::in_between(const Side& from, std::vector<Axis>& loops, int count) {
  std::vector<Axis*> order;
  for (Axis& loop : loops) order.push_back(&loop);
  std::ranges::sort(order, {}, [&](const Axis* loop) {
    return std::pair(loop->count > 1 ? loop->in : std::numeric_limits<long long>::max(),
                     loop - loops.data());
  });
  Side side{.at = take(line_count(loops) * static_cast<std::size_t>(count)), .count = count};
  long long next = count;
  if (is_by_lines(from, loops, &Axis::in)) {
    side.step = order.front()->count;
    order.front()->out = 1;
    next *= side.step;
    order.erase(order.begin());
  }
  for (Axis* const loop : order) {
    loop->out = next;
    next *= loop->count;
  }
  return side;
}

bool Passes::fits(const Lines& lines, int n) const {
  if (is_by_lines(lines.from, lines.loops, &Axis::in) ||
      is_by_lines(lines.to, lines.loops, &Axis::out))
    return n <= kMaxStrided;
  return n <= largest_block(in_double_, is_power_of_two(n));
}

Step Passes::single(const Lines& lines, int n, const Factors& factors) const {
  Step step{.module = {},
            .kernel = {},
            .pass = {},
            .in = lines.from.at,
            .out = lines.to.at,
            .swap_in = lines.from.swap,
            .swap_out = lines.to.swap};
  Pass& p = step.pass;
  p.n = n;
  p.in_step = lines.from.step;
  p.out_step = lines.to.step;
  p.in_jump = p.out_jump = 1;
  p.in_kind = lines.from.kind;
  p.out_kind = lines.to.kind;
  p.in_count = lines.from.count;
  p.out_count = lines.to.count;
  p.in_factors = factors.in;
  p.out_factors = factors.out;
  p.swap_before_factors = factors.swap_before ? 1 : 0;
  step.has_factors = factors.some;
  return step;
}

void Passes::transform(const Lines& lines) {
  if (!is_smooth(lines.n)) return convolve(lines);
  if (fits(lines, lines.n)) add(single(lines, lines.n, {}), lines.loops, lines.n, 0);
  else several(lines, {});
}

/// Index j of an array of n is that of three digits, say, j = (j0 n1 + j1) n2 + j2. A pass
/// transforms one digit in place; then element (.., k, r) is multiplied with a root that depends on
/// k and the digits r still to come. The last one stores k2 n1 n0 + k1 n0 + k0: in order.
void Passes::several(const Lines& lines, const Factors& factors) {
  const std::size_t taken = taken_;
  const std::vector<int> digits = split(lines.n, kMaxStrided);
  require(!digits.empty(), kInvalidSize);
  std::vector<Axis> between = lines.loops;
  Side middle = in_between(lines.from, between, lines.n);
  int left = lines.n, done = 1;  // products of digits to come, with this one, and of those before
  for (std::size_t number = 0; number < digits.size(); ++number) {
    const bool first = number == 0, last = number + 1 == digits.size();
    const int digit = digits[number], rest = left / digit;
    Step step = single({digit, first ? lines.from : middle, last ? lines.to : middle, {}}, digit,
                       {.in = first ? factors.in : nullptr,
                        .out = last ? factors.out : nullptr,
                        .swap_before = last && factors.swap_before,
                        .some = factors.some && (first || last)});
    step.pass.in_jump = rest;
    step.pass.out_jump = last ? done : rest;
    std::vector<Axis> axes;
    if (!last)
      axes.push_back({.in_first = 1, .out_first = 1, .count = static_cast<unsigned>(rest)});
    for (std::size_t i = 0, before = 1; i < number; ++i) {
      const int below = lines.n / static_cast<int>(before) / digits[i];
      axes.push_back({.in_first = below,
                      .out_first = last ? static_cast<int>(before) : below,
                      .count = static_cast<unsigned>(digits[i])});
      before *= static_cast<std::size_t>(digits[i]);
    }
    for (std::size_t i = 0; i < lines.loops.size(); ++i)
      axes.push_back({.in = first ? lines.loops[i].in : between[i].out,
                      .out = last ? lines.loops[i].out : between[i].out,
                      .count = lines.loops[i].count});
    add(step, axes, lines.n, last ? 0 : left);
    left = rest;
    done *= digit;
  }
  release(taken);
}

/// Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2 makes a convolution of the sum.
void Passes::convolve(const Lines& lines) {
  const int length = convolution_length(lines.n);
  const void* const chirp = tables_.chirp(lines.n);
  const void* const spectrum = tables_.chirp_spectrum(lines.n, length);
  if (length <= largest_block(in_double_, true)) {
    Step step = single(lines, length, {chirp, chirp, true, true});
    step.pass.spectrum = spectrum;
    step.convolves = true;
    return add(step, lines.loops, length, 0);
  }
  const std::size_t taken = taken_;
  std::vector<Axis> to_product = lines.loops;
  Side product = in_between(lines.from, to_product, length);
  product.swap = Swap::kAlways;  // the second transform is an inverse one
  several({length, lines.from, product, to_product}, {.in = chirp, .out = spectrum, .some = true});
  product.swap = Swap::kNever;
  std::vector<Axis> from_product = lines.loops;
  for (std::size_t i = 0; i < from_product.size(); ++i) from_product[i].in = to_product[i].out;
  several({length, product, lines.to, from_product},
          {.out = chirp, .swap_before = true, .some = true});
  release(taken);
}

void Passes::real_forward(const Lines& lines) {
  const bool smooth = is_smooth(lines.n);
  Lines inner = lines;
  if (smooth ? fits(lines, lines.n)
             : convolution_length(lines.n) <= largest_block(in_double_, true)) {
    inner.to.kind = kHalf;
    return transform(inner);
  }
  transform(inner);
  for (Axis& loop : inner.loops) loop.in = loop.out;
  inner.from = lines.to;
  pairs("split_pairs", inner);
}

void Passes::real_inverse(const Lines& lines) {
  const bool smooth = is_smooth(lines.n);
  Lines inner = lines;
  if (smooth ? fits(lines, lines.n)
             : convolution_length(lines.n) <= largest_block(in_double_, true)) {
    inner.from.kind = kHalf;
    return transform(inner);
  }
  const std::size_t taken = taken_;
  inner.to = in_between(lines.from, inner.loops, lines.n);
  pairs("join_pairs", inner);
  Lines outer = lines;
  for (std::size_t i = 0; i < outer.loops.size(); ++i) outer.loops[i].in = inner.loops[i].out;
  outer.from = inner.to;
  outer.from.swap = lines.from.swap;
  transform(outer);
  release(taken);
}

void Passes::pairs(const char* word, const Lines& lines) {
  Step step = single(lines, lines.n, {});
  step.swap_in = step.swap_out = Swap::kNever;
  step.kernel = word;
  add(step, lines.loops, lines.n, 0);
}

namespace {

struct Sorted {
  Axis axis;
  bool is_root;
  long long in_stride, out_stride;  ///< of neighbours on this axis
};

/// Neighbours first; what follows each other without a gap becomes one axis.
std::vector<Sorted> sorted(const Pass& p, const std::vector<Axis>& axes, bool first_is_root) {
  std::vector<Sorted> all;
  const long long in_step = p.in_step * (p.in_kind == kPair ? 2 : 1);
  const long long out_step = p.out_step * (p.out_kind == kPair ? 2 : 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (axis.count > 1)
      all.push_back({axis, first_is_root && i == 0, axis.in + axis.in_first * in_step,
                     axis.out + axis.out_first * out_step});
  }
  std::ranges::sort(all, {}, [&](const Sorted& one) {
    return std::pair(std::min(one.in_stride, one.out_stride),
                     std::max(one.in_stride, one.out_stride));
  });
  std::vector<Sorted> out;
  for (const Sorted& one : all) {
    if (!out.empty() && !one.is_root && !out.back().is_root) {
      Axis& before = out.back().axis;
      const int count = static_cast<int>(before.count);
      if (one.axis.in == before.in * count && one.axis.out == before.out * count &&
          one.axis.in_first == before.in_first * count &&
          one.axis.out_first == before.out_first * count) {
        before.count *= one.axis.count;
        continue;
      }
    }
    out.push_back(one);
  }
  return out;
}

}  // namespace

void Passes::add(Step step, const std::vector<Axis>& axes, int array, long long root_order) {
  Pass& pass = step.pass;
  unsigned long long lines = 1;
  for (const Axis& axis : axes) lines *= axis.count;
  require(lines <= std::numeric_limits<unsigned>::max() / 2, kInvalidSize);
  pass.line_count = static_cast<unsigned>(lines);
  pass.root_axis = -1;
  const std::vector<Sorted> all = sorted(pass, axes, root_order > 0);
  require(all.size() <= kMaxAxes, kInternalError);
  for (std::size_t i = 0; i < all.size(); ++i) {
    pass.axes[i] = all[i].axis;
    if (all[i].is_root) pass.root_axis = static_cast<int>(i);
  }
  pass.axis_count = static_cast<int>(all.size());
  if (!all.empty()) {
    const auto by_lines = [&](long long stride, long long step_of, Kind kind, int jump) {
      return stride < step_of * jump * (kind == kPair ? 2 : 1) ? 1 : 0;
    };
    pass.in_by_lines = by_lines(all[0].in_stride, pass.in_step, pass.in_kind, pass.in_jump);
    pass.out_by_lines = by_lines(all[0].out_stride, pass.out_step, pass.out_kind, pass.out_jump);
  }
  if (root_order > 0) pass.roots = tables_.roots(root_order);
  if (pass.in_kind == kHalf || !step.kernel.empty())
    pass.roots = tables_.roots(2ll * pass.in_count);
  if (pass.out_kind == kHalf) pass.roots = tables_.roots(2ll * pass.out_count);
  if (step.kernel.empty()) {
    const std::vector<int> radices = radices_of(pass.n);
    pass.twiddles = tables_.twiddles(radices);
    set_block(step, radices, array, in_double_);
  } else {
    set_pair_block(step, in_double_);
  }
  program_.steps.push_back(std::move(step));
}

}  // namespace raddle::cufft
