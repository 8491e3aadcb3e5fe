// Shared memory of other blocks of a cluster, as the timing model has it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "instruction_case.h"

namespace raddle::exec::test::cluster_test {
namespace {

/// Thread t reads word t * `stride` of the block of `rank`; pieces of that load in block 0.
std::vector<unsigned> pieces(unsigned rank, unsigned stride) {
  Rig rig(fmt::format(R"(
.visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1
{{ .reg .b32 %r<20>; .reg .b64 %q<9>; .shared .align 128 .b8 s[8192];
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;
  shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  mov.u32 %r5, {}; mapa.shared::cluster.u32 %r6, %r2, %r5;
  mul.lo.u32 %r7, %r1, {}; add.u32 %r7, %r7, %r6; ld.shared::cluster.u32 %r8, [%r7];
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  cvt.u64.u32 %q2, %r3; add.u64 %q2, %q1, %q2; st.global.u32 [%q2], %r8; ret; }}
)",
                      rank, 4 * stride));
  const auto trace = rig.record("k", {2, 1, 1}, {32, 1, 1}, rig.zeros(128));
  std::vector<unsigned> out;
  trace::WarpCursor cursor = trace->open(0, 0);
  do
    while (cursor.at != cursor.end) {
      const trace::Record record{cursor.at[0], cursor.at[1]};
      const trace::OpKind kind = trace->code().instructions.at(record.inst()).kind;
      if (kind == trace::OpKind::LoadShared) out.push_back(record.transactions());
      cursor.at += trace::kRecordWords;
      if (trace::carries_transactions(kind))
        cursor.at += trace::kTransactionWords * record.transactions();
    }
  while (trace->refill(cursor));
  return out;
}

TEST(Clusters, AnAccessToAnotherBlockSaysHowManyRowsItTouches) {
  EXPECT_THAT(pieces(1, 1), testing::ElementsAre(trace::kDistant + 1));
  EXPECT_THAT(pieces(1, 4), testing::ElementsAre(trace::kDistant + 4));
  EXPECT_THAT(pieces(1, 32), testing::ElementsAre(trace::kMaxTransactions)) << "31 or more";
  EXPECT_THAT(pieces(0, 1), testing::ElementsAre(32u)) << "its own: a pass for each lane";
}

}  // namespace
}  // namespace raddle::exec::test::cluster_test
