// A generated program as a kernel in PTX. Buffer: the table, the counters, then each thread's
// registers at its end.
#pragma once
#include <string>

#include "support/generated_program.h"

namespace raddle::test {

class ProgramText {
 public:
  explicit ProgramText(const GeneratedProgram& program) : threads_(program.threads) {
    prologue();
    write(program.statements, "");
    epilogue();
  }
  const std::string& text() const { return text_; }

 private:
  using Kind = Statement::Kind;
  void line(const std::string& instruction) { text_ += "  " + instruction + ";\n"; }
  static std::string number(std::uint64_t value) { return std::to_string(value); }
  static std::string reg(char kind, unsigned index) {
    return std::string("%") + kind + number(index);
  }
  std::string label() { return "L" + number(labels_++); }

  void prologue() {
    text_ =
        ".visible .entry generated(.param .u64 buffer)\n{\n"
        "  .reg .b32 %w<8>, %t<9>; .reg .f32 %f<6>; .reg .b64 %l<4>, %a<9>; .reg .pred %p<4>, "
        "%q<3>;\n"
        "  .shared .align 8 .b8 tile[512]; .shared .align 4 .b8 cells[16]; .local .align 4 .b8 "
        "own[32];\n";
    line("ld.param.u64 %a0, [buffer]");
    line("mov.u32 %t0, %tid.x");
    line("mov.u32 %t1, %ctaid.x");
    line("mad.lo.u32 %t1, %t1, " + number(threads_) + ", %t0");
    line("mov.u32 %t2, %laneid");
    for (unsigned i = 0; i < kWords; ++i) {
      line("mad.lo.u32 %t3, %t1, 7, " + number(13 * i));
      load_table("%t3", reg('w', i));
      line("xor.b32 " + reg('w', i) + ", " + reg('w', i) + ", %t1");
      line("mov.u32 %t4, " + number(4 * i));
      line("st.local.u32 [own+" + number(4 * i) + "], " + reg('w', i));
    }
    for (unsigned i = 0; i < kSingles; ++i)
      line("cvt.rn.f32.s32 " + reg('f', i) + ", " + reg('w', i));
    for (unsigned i = 0; i < kLongs; ++i)
      line("mul.wide.u32 " + reg('l', i) + ", " + reg('w', i) + ", " + reg('w', i + 1));
    for (unsigned i = 0; i < kPredicates; ++i)
      line("setp.lt.s32 " + reg('p', i) + ", " + reg('w', i) + ", " + reg('w', i + 4));
  }
  void epilogue() {
    line("mad.lo.u32 %t3, %t1, " + number(4 * kResultWords) + ", " +
         number(4 * (kTableWords + kCounters)));
    line("cvt.u64.u32 %a1, %t3");
    line("add.u64 %a1, %a0, %a1");
    for (unsigned i = 0; i < kWords; ++i)
      line("st.global.u32 [%a1+" + number(4 * i) + "], " + reg('w', i));
    for (unsigned i = 0; i < kSingles; ++i)
      line("st.global.f32 [%a1+" + number(4 * (kWords + i)) + "], " + reg('f', i));
    for (unsigned i = 0; i < kLongs; ++i)
      line("st.global.u64 [%a1+" + number(4 * (kWords + kSingles) + 8 * i) + "], " + reg('l', i));
    text_ += "  ret;\n}\n";
  }
  void load_table(const std::string& index, const std::string& to) {
    line("and.b32 %t4, " + index + ", " + number(kTableWords - 1));
    line("mul.wide.u32 %a1, %t4, 4");
    line("add.u64 %a1, %a0, %a1");
    line("ld.global.u32 " + to + ", [%a1]");
  }

  /// `leave`: the label behind the innermost loop.
  void write(const std::vector<Statement>& statements, const std::string& leave) {
    for (const Statement& statement : statements) write(statement, leave);
  }
  void write(const Statement& statement, const std::string& leave) {
    switch (statement.kind) {
      case Kind::Assign:
        return line(guard(statement) + assignment(statement));
      case Kind::If:
        return branching(statement, leave);
      case Kind::Loop:
      case Kind::Repeat:
        return looping(statement);
      case Kind::Break:
        return line(guard(statement) + "bra " + leave);
      case Kind::Gather:
        return load_table(word(statement, 0), reg('w', statement.destination));
      case Kind::ToLocal:
      case Kind::FromLocal:
        return local(statement);
      case Kind::Count:
        line("and.b32 %t4, " + word(statement, 0) + ", " + number(kCounters - 1));
        line("mul.wide.u32 %a1, %t4, 4");
        line("add.u64 %a1, %a0, %a1");
        return line("red.global.add.u32 [%a1+" + number(4 * kTableWords) + "], " +
                    word(statement, 1));
      default:
        return together(statement);
    }
  }
  static std::string guard(const Statement& statement) {
    if (statement.guard < 0) return "";
    return std::string(statement.negated ? "@!" : "@") +
           reg('p', static_cast<unsigned>(statement.guard)) + " ";
  }
  static std::string word(const Statement& statement, std::size_t source) {
    return reg('w', statement.sources[source].value);
  }
  static std::string assignment(const Statement& statement) {
    const Operation& operation = *statement.operation;
    std::string out(operation.text);
    const auto put = [&](const char* name, const std::string& with) {
      for (std::size_t at; (at = out.find(name)) != std::string::npos;) out.replace(at, 3, with);
    };
    put("<D>", reg(operation.kinds[0], statement.destination));
    constexpr const char* kNames[] = {"<A>", "<B>", "<C>"};
    for (std::size_t i = 1; i < operation.kinds.size(); ++i) {
      const Source& source = statement.sources[i - 1];
      put(kNames[i - 1],
          source.immediate ? number(source.value) : reg(operation.kinds[i], source.value));
    }
    return out;
  }
  void branching(const Statement& statement, const std::string& leave) {
    const std::string otherwise = label(), end = label();
    Statement inverse;
    inverse.guard = statement.guard;
    inverse.negated = !statement.negated;
    line(guard(inverse) + "bra " + otherwise);
    write(statement.body, leave);
    if (!statement.otherwise.empty()) line("bra " + end);
    text_ += otherwise + ":\n";
    write(statement.otherwise, leave);
    text_ += end + ":\n";
  }
  void looping(const Statement& statement) {
    const std::string again = label(), end = label(), id = number(labels_++);
    text_ += "  .reg .b32 %n" + id + ", %k" + id + "; .reg .pred %x" + id + ";\n";
    if (statement.kind == Kind::Loop) line("and.b32 %n" + id + ", " + word(statement, 0) + ", 7");
    else line("mov.u32 %n" + id + ", " + number(statement.count));
    line("mov.u32 %k" + id + ", 0");
    text_ += again + ":\n";
    line("setp.ge.u32 %x" + id + ", %k" + id + ", %n" + id);
    line("@%x" + id + " bra " + end);
    write(statement.body, end);
    line("add.u32 %k" + id + ", %k" + id + ", 1");
    line("bra " + again);
    text_ += end + ":\n";
  }
  void local(const Statement& statement) {
    line("and.b32 %t4, " + word(statement, 0) + ", " + number(kLocalWords - 1));
    line("mov.u32 %t5, own");
    line("mad.lo.u32 %t5, %t4, 4, %t5");
    if (statement.kind == Kind::ToLocal) line("st.local.u32 [%t5], " + word(statement, 1));
    else line("ld.local.u32 " + reg('w', statement.destination) + ", [%t5]");
  }

  void together(const Statement& statement) {
    const std::string to = reg('w', statement.destination);
    switch (statement.kind) {
      case Kind::Shuffle: {
        constexpr const char* kModes[] = {"up", "down", "bfly", "idx"};
        const unsigned mode = statement.mode % 4, segments = segment_mask(statement);
        const unsigned control = segments << 8 | (mode == 0 ? 0u : 31u);
        line(std::string("shfl.sync.") + kModes[mode] + ".b32 " + to + "|%q0, " +
             word(statement, 0) + ", " + lane_operand(statement) + ", " + number(control) +
             ", 0xffffffff");
        return line("@!%q0 add.u32 " + to + ", " + to + ", 1");
      }
      case Kind::Exchange:
        return exchange(statement);
      case Kind::Combine:
        return combine(statement);
      case Kind::Ballot:
        return line("vote.sync.ballot.b32 " + to + ", " + reg('p', statement.mode % kPredicates) +
                    ", 0xffffffff");
      default: {
        constexpr const char* kReductions[] = {"add.u32", "min.u32", "max.s32",
                                               "and.b32", "or.b32",  "xor.b32"};
        return line(std::string("redux.sync.") + kReductions[statement.mode % 6] + " " + to + ", " +
                    word(statement, 0) + ", 0xffffffff");
      }
    }
  }
  void exchange(const Statement& statement) {
    line("mov.u32 %t5, tile");
    line("mad.lo.u32 %t6, %t0, 4, %t5");
    line("st.shared.u32 [%t6], " + word(statement, 0));
    line("bar.sync 0");
    line("mad.lo.u32 %t6, %t0, " + number(statement.mode) + ", " + number(statement.count));
    line("rem.u32 %t6, %t6, " + number(threads_));
    line("mad.lo.u32 %t6, %t6, 4, %t5");
    line("ld.shared.u32 " + reg('w', statement.destination) + ", [%t6]");
    line("bar.sync 0");
  }
  void combine(const Statement& statement) {
    constexpr const char* kAtomics[] = {"add.u32", "min.s32", "max.u32", "xor.b32"};
    line("setp.lt.u32 %q1, %t0, " + number(kSharedCells));
    line("mov.u32 %t5, cells");
    line("mad.lo.u32 %t6, %t0, 4, %t5");
    line("@%q1 st.shared.u32 [%t6], %t0");
    line("bar.sync 0");
    line("and.b32 %t6, " + word(statement, 0) + ", " + number(kSharedCells - 1));
    line("mad.lo.u32 %t6, %t6, 4, %t5");
    line(std::string("red.shared.") + kAtomics[statement.mode % 4] + " [%t6], " +
         word(statement, 1));
    line("bar.sync 0");
    line("ld.shared.u32 " + reg('w', statement.destination) + ", [cells+" +
         number(4 * (statement.count % kSharedCells)) + "]");
    line("bar.sync 0");
  }

 public:
  /// Segments of 32, 16, 8 or 4 lanes.
  static unsigned segment_mask(const Statement& statement) {
    constexpr unsigned kMasks[] = {0, 16, 24, 28};
    return kMasks[statement.mode / 4 % 4];
  }

 private:
  /// How far, or which lane: a constant, or a register of each lane.
  static std::string lane_operand(const Statement& statement) {
    return statement.count < 32 ? number(statement.count) : word(statement, 1);
  }

  const unsigned threads_;
  std::string text_;
  unsigned labels_ = 0;
};

}  // namespace raddle::test
