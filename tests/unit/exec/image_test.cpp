// Textures and surfaces: the op stream they leave, queries, references, refusals. What they return
// is compared with references in tests/nvcc/textures.cpp and, on every build, here.
#include <gmock/gmock.h>

#include "instruction_case.h"

namespace raddle::exec::test::image_test {
namespace {

using Resource = TextureDescription::Resource;

constexpr ChannelFormat kWord{{32, 0, 0, 0}, ChannelKind::Unsigned};

Image array(Rig& rig, unsigned dimensions, u32 width, u32 height = 1, u32 depth = 1,
            ChannelFormat format = kWord) {
  ImageShape shape;
  shape.dimensions = dimensions;
  shape.width = width;
  shape.height = height;
  shape.depth = depth;
  Image image = lay_out_array(shape, format);
  image.address = rig.zeros(image_bytes(image));
  return image;
}
TextureDescription texture_of(const Image& image) {
  TextureDescription t;
  t.image = image;
  return t;
}

const char* const kFetch = R"(
.visible .entry k(.param .u64 tex, .param .u64 out, .param .u32 xs, .param .u32 ys)
{
  .reg .b32 %r<20>; .reg .b64 %q<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
  ld.param.u64 %q1, [tex]; ld.param.u64 %q2, [out]; ld.param.u32 %r1, [xs]; ld.param.u32 %r2, [ys];
  mov.u32 %r3, %tid.x; mul.lo.u32 %r4, %r3, %r1; mul.lo.u32 %r5, %r3, %r2;
  tex.2d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%q1, {%r4, %r5}];
  mul.wide.u32 %q3, %r3, 4; add.u64 %q3, %q2, %q3; st.global.u32 [%q3], %r6;
  ret;
}
)";

// --- what the timing model sees ------------------------------------------------------------------
TEST(Image, AFetchIsALoadOfTheTexelsLines) {
  Rig rig(kFetch);
  const Image image = array(rig, 2, 64, 64);
  for (u32 i = 0; i < 64 * 64; ++i) std::memcpy(rig.memory.host(image.address + 4 * i), &i, 4);
  const u64 handle = rig.machine.create_texture(texture_of(image));
  const Address out = rig.zeros(128);
  auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, handle, out, 1u, 0u);
  const auto find = [&](trace::KernelStream& stream) {
    std::vector<Op> found;
    for (const Op& op : ops_of(stream, 0, 0))
      if (stream.code().opcode_names[stream.code().instructions[op.inst].opcode] ==
          "tex.2d.v4.u32.s32")
        found.push_back(op);
    return found;
  };
  auto ops = find(*trace);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(trace->code().instructions[ops[0].inst].kind, trace::OpKind::LoadGlobal);
  ASSERT_EQ(ops[0].transactions.size(), 1u);  // 32 words of one line
  EXPECT_EQ(ops[0].transactions[0].line, static_cast<u32>(image.address >> 7));
  EXPECT_EQ(ops[0].transactions[0].words, ~0u);
  EXPECT_EQ(ops[0].transactions[0].lanes, ~0u);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(rig.download<u32>(out, 32)[i], i);
  auto column = rig.record("k", {1, 1, 1}, {32, 1, 1}, handle, out, 0u, 1u);
  ops = find(*column);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].transactions.size(), 32u);
  EXPECT_EQ(rig.download<u32>(out, 32)[3], 3 * 64u);
}
TEST(Image, MoreLinesThanARecordHoldsMakeSeveral) {
  const std::string text = R"(
.visible .entry k(.param .u64 tex, .param .u64 out)
{
  .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .f32 %f<9>;
  ld.param.u64 %q1, [tex]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1; mul.f32 %f1, %f1, 0f40000000; add.f32 %f1, %f1, 0f3F800000;
  mov.f32 %f2, 0f3F800000;
  tex.3d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%q1, {%f2, %f1, %f1, %f1}];
  mul.wide.u32 %q3, %r1, 4; add.u64 %q3, %q2, %q3; st.global.f32 [%q3], %f3;
  ret;
}
)";
  Rig rig(text);
  const Image image = array(rig, 3, 32, 66, 66, {{32, 0, 0, 0}, ChannelKind::Float});
  TextureDescription texture = texture_of(image);
  texture.filter = FilterMode::Linear;
  const Address out = rig.zeros(128);
  auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, rig.machine.create_texture(texture), out);
  u32 lanes = 0, records = 0;
  std::size_t transactions = 0;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const trace::StaticInst& inst = trace->code().instructions[op.inst];
    if (!trace->code().opcode_names[inst.opcode].starts_with("tex")) continue;
    ++records;
    transactions += op.transactions.size();
    EXPECT_EQ(lanes & op.mask, 0u);
    lanes |= op.mask;
    for (const trace::Transaction& transaction : op.transactions) EXPECT_EQ(transaction.words, 3u);
  }
  EXPECT_EQ(lanes, ~0u);
  EXPECT_EQ(transactions, 32u * 4);  // each lane's rows: two of two slices
  EXPECT_EQ(records, 3u);            // 13, 13 and 6 lanes: a lane may need 8
}

// --- references, queries, predicates -------------------------------------------------------------
const char* const kReference = R"(
.global .texref colours;
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<20>; .reg .b64 %q<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x;
  tex.1d.v4.u32.s32 {%r2, _, _, _}|%p1, [colours, {%r1}];
  selp.u32 %r3, 1000, 0, %p1; add.u32 %r2, %r2, %r3;
  mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q1, %q2; st.global.u32 [%q2], %r2;
  ret;
}
.visible .entry sizes(.param .u64 tex, .param .u64 surf, .param .u64 out)
{
  .reg .b32 %r<20>; .reg .b64 %q<9>;
  ld.param.u64 %q1, [tex]; ld.param.u64 %q2, [surf]; ld.param.u64 %q3, [out];
  txq.width.b32 %r1, [%q1]; txq.height.b32 %r2, [%q1]; txq.depth.b32 %r3, [%q1];
  txq.normalized_coords.b32 %r4, [%q1]; suq.width.b32 %r5, [%q2]; suq.array_size.b32 %r6, [%q2];
  st.global.v4.u32 [%q3], {%r1, %r2, %r3, %r4}; st.global.v2.u32 [%q3+16], {%r5, %r6};
  ret;
}
)";
TEST(Image, ReferencesHoldTheHandleTheyAreBoundTo) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kReference);
    const Address out = rig.zeros(128);
    EXPECT_THAT(run_error([&] {
                  rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
                }),
                testing::HasSubstr("a texture or surface reference that is not bound"));
    std::vector<u32> values(20);
    for (u32 i = 0; i < 20; ++i) values[i] = 7 * i;
    TextureDescription t;
    t.resource = Resource::Linear;
    t.image.address = rig.upload(values);
    t.image.format = kWord;
    t.image.shape.width = 20;
    const u64 handle = rig.machine.create_texture(t);
    std::memcpy(rig.memory.host(rig.program.symbol("colours")->address), &handle, 8);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
    const auto got = rig.download<u32>(out, 32);
    for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], 1000 + (i < 20 ? 7 * i : 0)) << lanes;
  }
  unsetenv("RADDLE_LANES");
}
TEST(Image, Queries) {
  Rig rig(kReference);
  TextureDescription t = texture_of(array(rig, 3, 5, 6, 7));
  t.normalized = true;
  ImageShape layers;
  layers.width = 9;
  layers.layers = 4;
  layers.layered = true;
  Image stack = lay_out_array(layers, kWord);
  stack.address = rig.zeros(image_bytes(stack));
  const Address out = rig.zeros(24);
  rig.run("sizes", {1, 1, 1}, {1, 1, 1}, rig.machine.create_texture(t),
          rig.machine.create_surface({stack}), out);
  EXPECT_THAT(rig.download<u32>(out, 6), testing::ElementsAre(5, 6, 7, 1, 9, 4));
}

// --- what cannot be ------------------------------------------------------------------------------
TEST(Image, TheInstructionsGeometryMustBeTheImages) {
  Rig rig(kFetch);
  const u64 handle = rig.machine.create_texture(texture_of(array(rig, 1, 64)));
  const std::string what = run_error([&] {
    rig.run("k", {1, 1, 1}, {32, 1, 1}, handle, rig.zeros(128), 1u, 0u);
  });
  EXPECT_THAT(what, testing::HasSubstr("the instruction is for 2D, the texture has 1 dimensions"));
}
TEST(Image, DescriptionsThatDoNotExistAreRefused) {
  Rig rig(kFetch);
  const auto refusal = [&](const TextureDescription& texture) -> std::string {
    try {
      rig.machine.create_texture(texture);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  TextureDescription texture = texture_of(array(rig, 2, 8, 8));
  EXPECT_EQ(refusal(texture), "");
  texture.filter = FilterMode::Linear;
  EXPECT_THAT(refusal(texture),
              testing::HasSubstr("linear filtering of a texture that is read as"));
  texture.read = ReadMode::NormalizedFloat;
  EXPECT_THAT(refusal(texture), testing::HasSubstr("32-bit integers cannot be read as normalised"));
  texture = texture_of(array(rig, 2, 8, 8));
  texture.image.format = {{8, 8, 8, 0}, ChannelKind::Unsigned};
  EXPECT_THAT(refusal(texture), testing::HasSubstr("channels of 8, 8, 8, 0 bits"));
  texture = texture_of(array(rig, 2, 8, 8));
  texture.image.shape.height = 9000;
  EXPECT_THAT(refusal(texture), testing::HasSubstr("do not lie in one allocation"));
  texture = texture_of(array(rig, 2, 8, 8));
  texture.image.pitch_bytes = 16;
  EXPECT_THAT(refusal(texture), testing::HasSubstr("rows of 32 bytes 16 bytes apart"));
  texture = texture_of(array(rig, 2, 8, 8));
  texture.resource = Resource::Linear;
  EXPECT_THAT(refusal(texture), testing::HasSubstr("linear memory has one dimension"));
  texture = texture_of(array(rig, 2, 8, 8));
  texture.image.shape.cube = true;
  EXPECT_THAT(refusal(texture), testing::HasSubstr("a cube map of 8 x 8 elements and 1 faces"));
}
TEST(Image, FormsThatAreNotSupportedAreNamed) {
  const std::string text = R"(
.visible .entry k(.param .u64 t)
{
  .reg .b32 %r<20>; .reg .b64 %q<9>; .reg .f32 %f<9>;
  ld.param.u64 %q1, [t];
  txq.channel_order.b32 %r1, [%q1];
  sust.p.2d.v4.b32.trap [%q1, {%r1, %r2}], {%r3, %r4, %r5, %r6};
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, %q1, {%f1, %f2}];
  ret;
}
)";
  const auto list = unsupported(ptx::parse(kHeader + text, "test.ptx"));
  ASSERT_EQ(list.size(), 3u);
  EXPECT_THAT(list[0].instruction, testing::HasSubstr("found .channel_order"));
  EXPECT_THAT(list[1].instruction, testing::HasSubstr("expected modifier .b, found .p"));
  EXPECT_THAT(list[2].instruction, testing::HasSubstr("(separate sampler)"));
}

}  // namespace
}  // namespace raddle::exec::test::image_test
