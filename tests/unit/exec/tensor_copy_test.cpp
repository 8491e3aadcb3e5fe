// cp.async.bulk.tensor against element-by-element copies made here: ranks, swizzles, strides, what
// is outside, im2col, reductions, multicast; tensor maps and their limits; tensormap.replace.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "instruction_case.h"
#include "raddle/exec/memory/tensor_map.h"

namespace raddle::exec::test::tensor_copy_test {
namespace {

/// A map with what its request points to.
struct Tensor {
  unsigned element = 1;  ///< as the driver numbers them; U16
  std::vector<u64> sizes;
  std::vector<u32> box;
  std::vector<u32> steps = std::vector<u32>(5, 1);
  u32 swizzle = 0, fill = 0;
  unsigned bytes = 2;
  std::vector<int> lower = {}, upper = {};
  u32 channels = 0, pixels = 0;
  u32 step(std::size_t dimension) const {  // the first dimension has none
    return dimension == 0 ? 1 : steps[dimension];
  }
  std::vector<u64> strides() const {  // rows are padded to 16 bytes, and 32 more
    std::vector<u64> out;
    u64 at = (sizes[0] * bytes + 15) / 16 * 16 + 32;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      out.push_back(at);
      at *= sizes[i];
    }
    return out;
  }
  u64 extent() const {
    const auto s = strides();
    return sizes.size() == 1 ? (sizes[0] * bytes + 15) / 16 * 16 : s.back() * sizes.back();
  }
  EncodedTensorMap encode(Address at) const {
    const auto s = strides();
    return encode_tensor_map({.element = element,
                              .rank = static_cast<u32>(sizes.size()),
                              .address = at,
                              .sizes = sizes.data(),
                              .strides = s.data(),
                              .steps = steps.data(),
                              .swizzle = swizzle,
                              .promotion = 2,
                              .fill = fill,
                              .box = box.data(),
                              .is_im2col = !lower.empty(),
                              .lower = lower.data(),
                              .upper = upper.data(),
                              .channels = channels,
                              .pixels = pixels});
  }
  TensorMap map(Address at) const {
    const EncodedTensorMap made = encode(at);
    EXPECT_TRUE(made.map.has_value()) << made.refusal;
    return made.map.value_or(TensorMap{});
  }
};

constexpr u32 kImage = 32768;
/// A kernel of 128 threads with 32 KiB of shared memory, filled from `image` and written back to
/// `out`; `copy` is thread 0's, with the map at %q3, coordinates in %r20 to %r24 and the barrier
/// object, which expects `bytes`, at %r2.
std::string kernel(const std::string& copy, bool waits, const std::string& directives = "",
                   const std::string& before = "", const std::string& to_out = "") {
  return fmt::format(
      R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 image, .param .u64 out,
  .param .u32 bytes,
  .param .u32 x, .param .u32 y, .param .u32 z, .param .u32 u, .param .u32 v) {4}
{{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %q<20>;
  .shared .align 1024 .b8 s[{0}]; .shared .align 8 .b64 bar;
  ld.param.u64 %q1, [image]; ld.param.u64 %q2, [out]; mov.b64 %q3, map; cvta.param.u64 %q3, %q3;
  ld.param.u32 %r3, [bytes]; ld.param.u32 %r20, [x]; ld.param.u32 %r21, [y]; ld.param.u32 %r22, [z];
  ld.param.u32 %r23, [u]; ld.param.u32 %r24, [v];
  mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r4, %tid.x; setp.ne.u32 %p1, %r4, 0;
  @%p1 bra INITIAL; mbarrier.init.shared::cta.b64 [%r2], 1;
INITIAL:
  shl.b32 %r5, %r4, 4; mov.u32 %r6, %r5;
FILL:
  cvt.u64.u32 %q4, %r6; add.u64 %q4, %q1, %q4; add.u32 %r7, %r1, %r6;
  ld.global.v4.u32 {{%r8, %r9, %r10, %r11}}, [%q4];
  st.shared.v4.u32 [%r7], {{%r8, %r9, %r10, %r11}};
  add.u32 %r6, %r6, 2048; setp.lt.u32 %p2, %r6, {0}; @%p2 bra FILL;
  fence.proxy.async; bar.sync 0; {5}
  @%p1 bra WAIT;
  {1}
  {2}
WAIT:
  {3}
  mov.u32 %r6, %r5; {6}
BACK:
  cvt.u64.u32 %q4, %r6; add.u64 %q4, %q2, %q4; add.u32 %r7, %r1, %r6;
  ld.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r7];
  st.global.v4.u32 [%q4], {{%r8, %r9, %r10, %r11}};
  add.u32 %r6, %r6, 2048; setp.lt.u32 %p2, %r6, {0}; @%p2 bra BACK;
  ret;
}}
)",
      kImage, waits ? "mbarrier.arrive.expect_tx.shared::cta.b64 %q5, [%r2], %r3;" : "", copy,
      waits ? "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra WAIT;" : "",
      directives, before, to_out);
}
std::string coordinates(std::size_t rank) {
  std::string text;
  for (std::size_t i = 0; i < rank; ++i) text += fmt::format("{}%r{}", i == 0 ? "" : ", ", 20 + i);
  return text;
}
std::string load_text(std::size_t rank) {
  return fmt::format(
      "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx"
      "::bytes [%r1], [%q3, {{{}}}], [%r2];",
      rank, coordinates(rank));
}
std::string store_text(std::size_t rank, const std::string& reduction = "") {
  return fmt::format(
      "cp.{}async.bulk.tensor.{}d.global.shared::cta{}.tile.bulk_group [%q3, {{{}}}], "
      "[%r1]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
      reduction.empty() ? "" : "reduce.", rank, reduction, coordinates(rank));
}

std::vector<u8> pattern(std::size_t bytes, u32 salt) {
  std::vector<u8> v(bytes);
  u32 x = salt * 2654435761u + 1;
  for (u8& byte : v) {
    x = x * 1664525 + 1013904223;
    byte = static_cast<u8>(x >> 24);
  }
  return v;
}

/// f(offset in shared memory, coordinates) for each element of the box, by the ISA's words.
template <class F>
void each_element(const Tensor& t, const std::vector<int>& at, F f) {
  const std::size_t rank = t.sizes.size();
  std::vector<u64> count(5, 1);
  for (std::size_t i = 0; i < rank; ++i) count[i] = (t.box[i] + t.step(i) - 1) / t.step(i);
  u64 number = 0;
  for (u64 e = 0; e < count[4]; ++e)
    for (u64 d = 0; d < count[3]; ++d)
      for (u64 c = 0; c < count[2]; ++c)
        for (u64 b = 0; b < count[1]; ++b)
          for (u64 a = 0; a < count[0]; ++a, ++number) {
            const u64 n[] = {a, b, c, d, e};
            std::vector<s64> place;
            for (std::size_t i = 0; i < rank; ++i)
              place.push_back(at[i] + static_cast<s64>(n[i] * t.step(i)));
            u64 offset = number * t.bytes;
            const u64 rows = u64{16} << t.swizzle;  // swizzled within so many bytes
            if (t.swizzle != 0) {
              const u64 part = offset % rows / 16, row = offset / 128 % (u64{1} << t.swizzle);
              offset = offset / rows * rows + (part ^ row) * 16 + offset % 16;
            }
            f(offset, place);
          }
}
bool is_inside(const Tensor& t, const std::vector<s64>& place) {
  for (std::size_t i = 0; i < place.size(); ++i)
    if (place[i] < 0 || place[i] >= static_cast<s64>(t.sizes[i])) return false;
  return true;
}
u64 offset_of(const Tensor& t, const std::vector<s64>& place) {
  const auto strides = t.strides();
  u64 at = static_cast<u64>(place[0]) * t.bytes;
  for (std::size_t i = 1; i < place.size(); ++i) at += static_cast<u64>(place[i]) * strides[i - 1];
  return at;
}
u64 elements_of(const Tensor& t) {
  u64 n = 1;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) n *= (t.box[i] + t.step(i) - 1) / t.step(i);
  return n;
}

void check_load(const Tensor& shape, std::vector<int> at) {
  SCOPED_TRACE(fmt::format("rank {} element {} swizzle {} at {}", shape.sizes.size(), shape.element,
                           shape.swizzle, fmt::join(at, ",")));
  const std::size_t rank = shape.sizes.size();
  at.resize(5);
  Rig rig(kernel(load_text(rank), true));
  const auto data = pattern(shape.extent(), 7), image = pattern(kImage, 3);
  const Address tensor = rig.upload(data), out = rig.zeros(kImage);
  const auto trace = rig.record("k", {1, 1, 1}, {128, 1, 1}, shape.map(tensor), rig.upload(image),
                                out, static_cast<u32>(elements_of(shape) * shape.bytes), at[0],
                                at[1], at[2], at[3], at[4]);
  std::vector<u8> expected = image;
  at.resize(rank);
  std::set<u64> lines;
  each_element(shape, at, [&](u64 offset, const std::vector<s64>& place) {
    const bool inside = is_inside(shape, place);
    const u64 from = inside ? offset_of(shape, place) : 0;
    for (unsigned i = 0; i < shape.bytes; ++i)
      expected[offset + i] = inside                ? data[from + i]
                             : shape.fill == 0     ? 0
                             : i + 1 < shape.bytes ? 0xff
                                                   : 0x7f;
    if (inside) lines.insert((tensor + from) / 128);
  });
  ASSERT_EQ(rig.download<u8>(out, kImage), expected);
  std::set<u64> seen;
  for (const Op& op : ops_of(*trace, 0, 0))
    if (const auto& inst = trace->code().instructions.at(op.inst);
        inst.kind == trace::OpKind::LoadGlobal && inst.bypass_l1)
      for (const trace::Transaction& line : op.transactions) seen.insert(line.line);
  EXPECT_EQ(seen, lines);
}
void check_store(const Tensor& shape, std::vector<int> at) {
  SCOPED_TRACE(fmt::format("rank {} element {} swizzle {} at {}", shape.sizes.size(), shape.element,
                           shape.swizzle, fmt::join(at, ",")));
  const std::size_t rank = shape.sizes.size();
  at.resize(5);
  Rig rig(kernel(store_text(rank), false));
  const auto data = pattern(shape.extent(), 7), image = pattern(kImage, 3);
  const Address tensor = rig.upload(data);
  rig.run("k", {1, 1, 1}, {128, 1, 1}, shape.map(tensor), rig.upload(image), rig.zeros(kImage),
          u32{0}, at[0], at[1], at[2], at[3], at[4]);
  std::vector<u8> expected = data;
  at.resize(rank);
  each_element(shape, at, [&](u64 offset, const std::vector<s64>& place) {
    if (is_inside(shape, place))
      std::copy_n(&image[offset], shape.bytes, &expected[offset_of(shape, place)]);
  });
  ASSERT_EQ(rig.download<u8>(tensor, data.size()), expected);
}

TEST(TensorCopy, EveryRankInsideAndOut) {
  const std::vector<Tensor> kTensors = {
      {.sizes = {100}, .box = {64}},
      {.sizes = {40, 9}, .box = {16, 5}},
      {.sizes = {24, 7, 5}, .box = {8, 4, 3}},
      {.sizes = {24, 5, 4, 3}, .box = {16, 3, 3, 2}},
      {.sizes = {16, 4, 3, 3, 3}, .box = {8, 3, 2, 2, 2}},
  };
  for (const Tensor& t : kTensors)
    for (const std::vector<int>& at : std::vector<std::vector<int>>{{0, 0, 0, 0, 0},
                                                                    {3, 1, 1, 1, 1},
                                                                    {-5, -2, -1, -1, -1},
                                                                    {20, 3, 2, 2, 2},
                                                                    {-1000, 0, 0, 0, 0},
                                                                    {0, 0, 1000, 0, 0},
                                                                    {90, 8, 4, 2, 2}}) {
      check_load(t, {at.begin(), at.begin() + static_cast<std::ptrdiff_t>(t.sizes.size())});
      check_store(t, {at.begin(), at.begin() + static_cast<std::ptrdiff_t>(t.sizes.size())});
    }
}
TEST(TensorCopy, EveryElementSwizzleAndFill) {
  constexpr unsigned kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  for (unsigned element = 0; element < kTensorElements; ++element)
    for (u32 swizzle = 0; swizzle < 4; ++swizzle)
      for (u32 fill = 0; fill < (element >= 6 ? 2u : 1u); ++fill) {
        const unsigned bytes = kBytes[element], wide = (swizzle == 0 ? 64 : 16u << swizzle) / bytes;
        const Tensor t{.element = element,
                       .sizes = {3 * wide / 2, 40},
                       .box = {wide, 24},
                       .swizzle = swizzle,
                       .fill = fill,
                       .bytes = bytes};
        check_load(t, {0, 0});
        check_load(t, {static_cast<int>(wide / 2) + 1, 30});
        check_store(t, {-1, -3});
      }
}
TEST(TensorCopy, StridesOfElements) {
  check_load({.sizes = {32, 20, 9}, .box = {16, 12, 8}, .steps = {1, 3, 2, 1, 1}}, {4, 1, 1});
  check_load({.sizes = {32, 20, 9}, .box = {16, 11, 7}, .steps = {8, 3, 2, 1, 1}}, {0, 0, 0});
  check_store({.sizes = {32, 20, 9}, .box = {16, 12, 8}, .steps = {1, 3, 2, 1, 1}}, {4, 10, 3});
}

TEST(TensorCopy, Reductions) {
  const Tensor shape{.element = 2, .sizes = {12, 5}, .box = {8, 4}, .bytes = 4};
  const struct {
    const char* word;
    u32 (*op)(u32, u32);
  } kCases[] = {{".add", [](u32 a, u32 b) { return a + b; }},
                {".min", [](u32 a, u32 b) { return std::min(a, b); }},
                {".max", [](u32 a, u32 b) { return std::max(a, b); }},
                {".and", [](u32 a, u32 b) { return a & b; }},
                {".or", [](u32 a, u32 b) { return a | b; }},
                {".xor", [](u32 a, u32 b) { return a ^ b; }},
                {".inc", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }},
                {".dec", [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }}};
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.word);
    Rig rig(kernel(store_text(2, test.word), false));
    const auto data = pattern(shape.extent(), 7), image = pattern(kImage, 3);
    const Address tensor = rig.upload(data);
    rig.run("k", {1, 1, 1}, {128, 1, 1}, shape.map(tensor), rig.upload(image), rig.zeros(kImage),
            u32{0}, 6, 2, 0, 0, 0);
    auto expected = data;
    each_element(shape, {6, 2}, [&](u64 offset, const std::vector<s64>& place) {
      if (!is_inside(shape, place)) return;
      u32 old = 0, operand = 0;
      std::memcpy(&old, &data[offset_of(shape, place)], 4);
      std::memcpy(&operand, &image[offset], 4);
      const u32 next = test.op(old, operand);
      std::memcpy(&expected[offset_of(shape, place)], &next, 4);
    });
    ASSERT_EQ(rig.download<u8>(tensor, data.size()), expected);
  }
  // Halves are added as halves: 1 + 1.
  const Tensor halves{.element = 6, .sizes = {8}, .box = {8}};
  Rig rig(kernel(store_text(1, ".add"), false));
  const Address tensor = rig.upload(std::vector<u16>(8, 0x3c00));
  rig.run("k", {1, 1, 1}, {128, 1, 1}, halves.map(tensor),
          rig.upload(std::vector<u16>(kImage / 2, 0x3c00)), rig.zeros(kImage), u32{0}, 0, 0, 0, 0,
          0);
  EXPECT_EQ(rig.download<u16>(tensor, 8), std::vector<u16>(8, 0x4000));
}

TEST(TensorCopy, Im2colWalksThePixelsOfABox) {
  // NHWC, 2 x 5 x 6 x 16, a filter of 3 x 3 with padding 1: corners as CUTLASS has them.
  const Tensor shape{.sizes = {16, 6, 5, 2},
                     .box = {},
                     .steps = {1, 1, 1, 1, 1},
                     .swizzle = 0,
                     .lower = {-1, -1},
                     .upper = {-1, -1},
                     .channels = 8,
                     .pixels = 40};
  for (const auto& [right, down] : std::vector<std::pair<int, int>>{{0, 0}, {2, 1}, {1, 2}}) {
    Rig rig(kernel(fmt::format("mov.u16 %h1, {}; mov.u16 %h2, {}; "
                               "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier"
                               "::complete_tx::bytes [%r1], [%q3, {{%r20, %r21, %r22, %r23}}], "
                               "[%r2], {{%h1, %h2}};",
                               right, down),
                   true));
    const auto data = pattern(shape.extent(), 7), image = pattern(kImage, 3);
    const Address tensor = rig.upload(data), out = rig.zeros(kImage);
    const int start[] = {8, 2, -1, 0};
    rig.run("k", {1, 1, 1}, {128, 1, 1}, shape.map(tensor), rig.upload(image), out, u32{40 * 8 * 2},
            start[0], start[1], start[2], start[3], 0);
    auto expected = image;
    int x = start[1], y = start[2], image_number = start[3];
    for (unsigned pixel = 0; pixel < 40; ++pixel) {
      for (unsigned channel = 0; channel < 8; ++channel) {
        const std::vector<s64> place = {start[0] + static_cast<s64>(channel), x + right, y + down,
                                        image_number};
        for (unsigned i = 0; i < 2; ++i)
          expected[(pixel * 8 + channel) * 2 + i] =
              is_inside(shape, place) ? data[offset_of(shape, place) + i] : 0;
      }
      if (++x <= 6 - 1 - 1) continue;
      x = -1;
      if (++y <= 5 - 1 - 1) continue;
      y = -1;
      ++image_number;
    }
    ASSERT_EQ(rig.download<u8>(out, kImage), expected) << right << " " << down;
  }
}

TEST(TensorCopy, MulticastFillsEveryBlockNamed) {
  const Tensor t{.sizes = {64, 16}, .box = {64, 8}, .swizzle = 3};
  Rig rig(
      kernel("setp.eq.u32 %p4, %r30, 1; @%p4 bra WAIT; mov.u16 %h1, 5; "
             "setp.ne.u32 %p4, %r30, 0; @%p4 bra WAIT; "
             "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes."
             "multicast::cluster.L2::cache_hint [%r1], [%q3, {%r20, %r21}], [%r2], %h1, %q9;",
             true, ".explicitcluster .reqnctapercluster 4, 1, 1",
             "mov.u64 %q9, 0; mov.u32 %r30, %cluster_ctarank; setp.eq.u32 %p5, %r30, 1; "
             "setp.eq.u32 %p6, %r30, 3; or.pred %p5, %p5, %p6; @!%p5 bra MEET; "
             "@%p1 bra MEET; mbarrier.arrive.shared::cta.b64 _, [%r2];\nMEET: "
             "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p5 bra OVER; ",
             "OVER: mov.u32 %r6, %r5; mul.wide.u32 %q8, %r30, 32768; add.u64 %q2, %q2, %q8; "));
  const auto data = pattern(t.extent(), 7), image = pattern(kImage, 3);
  const Address tensor = rig.upload(data), out = rig.zeros(4 * kImage);
  rig.run("k", {4, 1, 1}, {128, 1, 1}, t.map(tensor), rig.upload(image), out, u32{1024}, 0, 2, 0, 0,
          0);
  std::vector<u8> loaded = image;
  each_element(t, {0, 2}, [&](u64 offset, const std::vector<s64>& place) {
    std::copy_n(&data[offset_of(t, place)], 2, &loaded[offset]);
  });
  for (u32 rank = 0; rank < 4; ++rank)
    EXPECT_EQ(rig.download<u8>(out + rank * kImage, kImage), rank % 2 == 0 ? loaded : image)
        << rank;
}

TEST(TensorMap, ReplacedFieldsAreUsed) {
  // The map is copied to shared memory, changed there, published, and used.
  const Tensor old{.sizes = {8, 2}, .box = {8, 2}}, next{.sizes = {24, 6}, .box = {8, 4}};
  Rig rig(kernel(R"(
    add.u64 %q6, %q2, 32768; add.u32 %r30, %r1, 16384; mov.u32 %r31, 0;
MAP: cvt.u64.u32 %q7, %r31; add.u64 %q8, %q3, %q7; ld.u64 %q9, [%q8]; add.u32 %r32, %r30, %r31;
    st.shared.u64 [%r32], %q9; add.u32 %r31, %r31, 8; setp.lt.u32 %p4, %r31, 128; @%p4 bra MAP;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r30], %q1;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r30], 0, 24;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r30], 1, %r24;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r30], 0, 80;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r30], 1, 4;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r30], 1, 1;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r30], 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r30], 1;
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r30], 0;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r30], 0;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r30], 0;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
      [%q6], [%r30], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%q6], 128;
    mov.u64 %q3, %q6;
    )" + load_text(2),
                 true));
  const auto image = pattern(kImage, 3);
  const Address out = rig.zeros(kImage + 128), from = rig.upload(image);
  ASSERT_EQ(next.strides()[0], 80u);
  rig.run("k", {1, 1, 1}, {128, 1, 1}, old.map(out), from, out, u32{64}, 16, 2, 0, 0, 6);
  std::vector<u8> expected(64);
  each_element(next, {16, 2}, [&](u64 offset, const std::vector<s64>& place) {
    std::copy_n(&image[offset_of(next, place)], 2, &expected[offset]);
  });
  EXPECT_EQ(rig.download<u8>(out, 64), expected);
}

TEST(TensorMap, LimitsOfTheReference) {
  const Tensor good{.sizes = {64, 16}, .box = {32, 8}, .swizzle = 2};
  EXPECT_TRUE(good.encode(1 << 20).map.has_value());
  const auto refused = [&](auto change, Address at = 1 << 20) {
    Tensor shape = good;
    change(shape);
    return std::string(shape.encode(at).refusal);
  };
  EXPECT_EQ(refused([](Tensor&) {}, (1 << 20) + 8), "global address");
  EXPECT_EQ(refused([](Tensor& shape) { shape.element = 13; }), "element type");
  EXPECT_EQ(refused([](Tensor& shape) { shape.swizzle = 4; }), "swizzle");
  EXPECT_EQ(refused([](Tensor& shape) { shape.fill = 1; }), "fill with NaN of integers");
  EXPECT_EQ(refused([](Tensor& shape) { shape.fill = 2; }), "fill");
  EXPECT_EQ(refused([](Tensor& shape) { shape.sizes[0] = 0; }), "size of a dimension");
  EXPECT_EQ(refused([](Tensor& shape) { shape.sizes[1] = (u64{1} << 32) + 1; }),
            "size of a dimension");
  EXPECT_EQ(refused([](Tensor& shape) { shape.steps[1] = 9; }), "element stride");
  EXPECT_EQ(refused([](Tensor& shape) { shape.steps[1] = 0; }), "element stride");
  EXPECT_EQ(refused([](Tensor& shape) { shape.box[1] = 257; }), "size of the box");
  EXPECT_EQ(refused([](Tensor& shape) { shape.box[0] = 4; }),
            "inner dimension of the box: no multiple of 16 bytes");
  EXPECT_EQ(refused([](Tensor& shape) { shape.box[0] = 64; }),
            "inner dimension of the box: larger than the swizzle");
  EXPECT_EQ(refused([](Tensor& shape) { shape.lower = shape.upper = {0}; }), "rank");
  Tensor im2col{.sizes = {16, 6, 5, 2},
                .box = {},
                .lower = {-1, -1},
                .upper = {-1, -1},
                .channels = 8,
                .pixels = 40};
  EXPECT_TRUE(im2col.encode(1 << 20).map.has_value());
  im2col.lower[0] = -129;
  EXPECT_STREQ(im2col.encode(1 << 20).refusal, "corner of the pixels' box");
  im2col.lower[0] = 5;
  EXPECT_STREQ(im2col.encode(1 << 20).refusal, "empty box of pixels");
  im2col.lower[0] = 0;
  im2col.pixels = 1025;
  EXPECT_STREQ(im2col.encode(1 << 20).refusal, "pixels of a column");
}

TEST(TensorCopy, FaultsAreNamed) {
  const Tensor shape{.sizes = {64, 16}, .box = {64, 8}};
  const auto fault = [&](const std::string& copy, const TensorMap& map) {
    Rig rig(kernel(copy, true));
    const Address image = rig.zeros(kImage);
    TensorMap used = map;
    if (used.address == 0) used.address = image;
    return run_error([&] {
      rig.run("k", {1, 1, 1}, {128, 1, 1}, used, image, image, u32{1024}, 0, 0, 0, 0, 0);
    });
  };
  TensorMap map = shape.map(1 << 20);
  map.address = 0;  // to be set
  EXPECT_THAT(fault("add.u32 %r1, %r1, 16; " + load_text(2), map),
              testing::HasSubstr("is no multiple of 128"));
  EXPECT_THAT(fault(load_text(3), map), testing::HasSubstr("copy of 3 dimensions, tiled, with a "
                                                           "tensor map of 2, tiled"));
  EXPECT_THAT(fault("mov.u32 %r1, 32000; and.b32 %r1, %r1, -128; " + load_text(2), map),
              testing::HasSubstr("leaves the block's"));
  TensorMap none = map;
  none.magic = 0;
  EXPECT_THAT(fault(load_text(2), none), testing::HasSubstr("no tensor map at generic address"));
  EXPECT_THAT(fault("add.u64 %q3, %q3, 8; " + load_text(2), map),
              testing::HasSubstr("no tensor map at generic address"));
  TensorMap interleaved = map;
  interleaved.interleave = 1;
  EXPECT_THAT(fault(load_text(2), interleaved),
              testing::HasSubstr("interleaved tensors cannot be copied yet"));
  TensorMap away = map;
  away.address = DeviceMemory::kBase + (u64{1} << 29);
  EXPECT_THAT(fault(load_text(2), away), testing::HasSubstr("leaves all allocations"));
}

}  // namespace
}  // namespace raddle::exec::test::tensor_copy_test
