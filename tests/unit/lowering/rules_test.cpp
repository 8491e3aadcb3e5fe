// The table of rules: every row is well formed, and random code keeps its dependences whatever is
// folded.
#include "raddle/lowering/rules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "raddle/base/rng.h"
#include "raddle/lowering/lowering.h"
#include "raddle_paths.h"
#include "unit/lowering/code_builder.h"

namespace raddle::lowering::rules_test {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  std::istringstream in{std::string(text)};
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

TEST(Rules, EveryRowReadsWhatItHasAndWritesItsResult) {
  for (const Rule& rule : rules()) {
    SCOPED_TRACE(std::string(rule.ptx));
    EXPECT_FALSE(rule.source.empty());
    std::set<std::string> known;
    for (const std::string& step : split(rule.steps, ';')) {
      const std::size_t space = step.find(' '), equals = step.find('=');
      ASSERT_NE(space, step.npos) << step;
      EXPECT_NE(std::find(trace::kOpClassNames.begin(), trace::kOpClassNames.end(),
                          step.substr(0, space)),
                trace::kOpClassNames.end())
          << step;
      if (equals == step.npos) continue;
      for (const std::string& r : split(step.substr(equals + 1), ','))
        EXPECT_TRUE(std::string("abce").find(r[0]) != std::string::npos || known.contains(r) ||
                    known.contains(r.substr(0, 1)) || known.contains(r + "0"))
            << r << " is read before it is written: " << step;
      for (const std::string& w : split(step.substr(space + 1, equals - space - 1), ','))
        known.insert(w);
    }
    EXPECT_TRUE(rule.steps.empty() || known.contains("d") || known.contains("d0"));
  }
}

TEST(Rules, TheDocumentShowsTheTable) {
  std::ifstream file(RADDLE_SOURCE_DIR "/docs/lowering.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find(rules_as_markdown()), text.npos)
      << "docs/lowering.md is not up to date; the table is:\n"
      << rules_as_markdown();
}

TEST(Rules, ThePlaceInTheTableDecides) {
  EXPECT_EQ(find_rule("add.s64", Generation::Volta, true, false)->steps, "int d0=a0,b0");
  EXPECT_NE(find_rule("add.s64", Generation::Volta, false, false)->steps, "int d0=a0,b0");
  EXPECT_EQ(find_rule("add.s32", Generation::Volta, false, false), nullptr);
  EXPECT_EQ(find_rule("setp.lt.and.f64", Generation::Volta, false, false)->steps, "fp64 d=a,b,c");
}

/// Operations of the table, each with its operands' letters.
struct Sample {
  std::string op, writes, reads;
};
std::vector<Sample> samples() {
  std::vector<Sample> out = {
      {"mov.u32", "r", "r"},     {"mov.u64", "d", "d"},      {"cvt.u64.u32", "d", "r"},
      {"cvt.u32.u64", "r", "d"}, {"cvt.s64.s32", "d", "r"},  {"cvt.u64.u32", "d", "r"},
      {"add.s32", "r", "rr"},    {"xor.b32", "r", "rr"},     {"mad.lo.s32", "r", "rrr"},
      {"and.pred", "p", "pp"},   {"setp.lt.s32", "p", "rr"}, {"cvta.to.global.u64", "d", "d"},
      {"add.f32", "r", "rr"},    {"mul.f32", "r", "rr"},     {"shl.b32", "r", "r#"},
      {"shl.b64", "d", "d#"}};
  for (const Rule& rule : rules()) {
    if (rule.ptx.find('+') != rule.ptx.npos || rule.ptx.starts_with("cvta") ||
        rule.ptx.starts_with("cvt.") || rule.ptx.starts_with("mov") ||
        rule.ptx.starts_with("rcp.approx.ftz.f64"))  // of which only the high word is read
      continue;
    Sample sample;
    for (char letter : rule.ptx)
      sample.op += letter == '?' ? std::string("s") : letter == '*' ? "" : std::string(1, letter);
    if (sample.op == "setp..s64") sample.op = "setp.lt.s64";
    if (sample.op == "setp..f64") sample.op = "setp.lt.f64";
    const char width = sample.op.ends_with("64") ? 'd' : 'r';
    sample.writes = width;
    if (sample.op.starts_with("setp")) sample.writes = "p";
    for (const char* count : {"popc", "clz", "bfind"})
      if (sample.op.starts_with(count)) sample.writes = "r";
    if (sample.op.find(".wide.") != sample.op.npos) sample.writes = "d";
    for (const char letter : {'a', 'b', 'c', 'e'}) {
      const std::string steps = ";" + std::string(rule.steps);
      bool used = false;
      for (const char before : {'=', ','})
        used |= steps.find(std::string{before, letter}) != steps.npos;
      if (used) sample.reads += width;
    }
    if (rule.when == When::Immediate) sample.reads += '#';
    if (sample.op.starts_with("selp")) sample.reads[2] = 'p';
    if (sample.op.starts_with("mad.wide")) sample.reads = "rrd";
    if (sample.op.starts_with("setp") && sample.reads.size() == 3) sample.reads[2] = 'p';
    out.push_back(sample);
  }
  return out;
}

using Origins = std::set<std::uint32_t>;

/// For each instruction of a straight run, those still there whose results it takes, directly or
/// through instructions that are gone.
std::vector<Origins> origins_in_ptx(const trace::KernelCode& code, const trace::LoweredCode& l) {
  std::vector<Origins> held(code.register_bytes.size()), out;
  for (std::uint32_t i = 0; i < code.instructions.size(); ++i) {
    Origins mine;
    for (const trace::Operand& o : code.instructions[i].operands)
      if (o.reg != trace::kNoRegister && o.kind != trace::Operand::Kind::Write)
        mine.insert(held[o.reg].begin(), held[o.reg].end());
    for (const trace::Operand& o : code.instructions[i].operands)
      if (o.kind == trace::Operand::Kind::Write)
        held[o.reg] = l.first[i] == l.first[i + 1] ? mine : Origins{i};
    out.push_back(mine);
  }
  return out;
}

/// The same of machine code: the PTX instructions behind the registers that are read.
std::vector<Origins> origins_in_machine(const trace::LoweredCode& l) {
  std::vector<Origins> held(256), out;
  for (std::uint32_t i = 0; i + 1 < l.first.size(); ++i) {
    Origins whole;
    for (std::uint32_t k = l.first[i]; k < l.first[i + 1]; ++k) {
      const trace::StaticInst& in = l.code.instructions[k];
      for (auto r : in.reads) whole.insert(held[r].begin(), held[r].end());
      for (auto w : in.writes) held[w] = {i};
    }
    out.push_back(whole);
  }
  return out;
}

class Dependences : public testing::TestWithParam<unsigned> {};

TEST_P(Dependences, SurviveLowering) {
  Rng rng(GetParam(), "lowering");
  const std::vector<Sample> all = samples();
  const auto pick = [&](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
  for (unsigned round = 0; round < 40; ++round) {
    CodeBuilder builder;
    builder.add("bar.sync", {}, {"#"}, trace::OpKind::Barrier);
    for (unsigned i = 0; i < 40; ++i) {
      const Sample& sample = all[pick(all.size())];
      std::vector<std::string> writes, reads;
      // Few registers, so that most are written again; some only once, so that folding is allowed.
      for (char letter : sample.writes)
        writes.push_back(letter +
                         (pick(2) == 0 ? std::to_string(pick(4)) : std::to_string(100 + i)));
      for (char letter : sample.reads)
        reads.push_back(letter == '#'
                            ? "#"
                            : letter + (pick(2) == 0 || i == 0 ? std::to_string(pick(4))
                                                               : std::to_string(100 + pick(i))));
      builder.add(sample.op, writes, reads);
    }
    for (unsigned i = 0; i < 4; ++i)
      builder.add("st.global.u64", {}, {"[d" + std::to_string(i) + "]", "r" + std::to_string(i)},
                  trace::OpKind::StoreGlobal);
    const Generation generation = static_cast<Generation>(pick(kGenerations));
    const trace::LoweredCode lowered = lower(builder.code(), {Level::Machine, generation});
    const auto ptx = origins_in_ptx(builder.code(), lowered), made = origins_in_machine(lowered);
    for (std::uint32_t i = 1; i < ptx.size(); ++i)
      for (std::uint32_t from : ptx[i])
        EXPECT_TRUE(lowered.first[i] == lowered.first[i + 1] || made[i].contains(from))
            << kGenerationNames[static_cast<unsigned>(generation)] << ": " << i << " "
            << builder.code().opcode_names[i] << " follows from " << from << " "
            << builder.code().opcode_names[from];
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Dependences, testing::Range(1u, 6u));

}  // namespace
}  // namespace raddle::lowering::rules_test
