// Structured programs from random decisions: what a kernel does, as a tree. Its text in PTX is in
// generated_program_text.h, what it computes in generated_program_value.h, which knows nothing of
// the functional machine: two readers of one tree that must agree.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::test {

inline constexpr unsigned kWords = 8, kSingles = 6, kLongs = 4, kPredicates = 4;
inline constexpr unsigned kTableWords = 64, kCounters = 8, kLocalWords = 8, kSharedCells = 4;
inline constexpr unsigned kResultWords = kWords + kSingles + 2 * kLongs;

/// An instruction of one result, and its value. Kinds, result first: w 32 bits, f single precision,
/// l 64 bits, p predicate (as 0 or 1).
struct Operation {
  std::string_view text;  ///< with <D>, <A>, <B>, <C>
  std::string_view kinds;
  std::uint64_t (*value)(std::uint64_t, std::uint64_t, std::uint64_t);
};

struct Source {
  bool immediate = false;   ///< only of kind w
  std::uint32_t value = 0;  ///< or the register's number
};

struct Statement {
  enum class Kind : std::uint8_t {
    Assign,   ///< operation, on lanes of the guard
    If,       ///< predicate ? body : otherwise
    Loop,     ///< word & 7 times, each thread its own
    Repeat,   ///< count times, all threads
    Break,    ///< leaves the innermost loop where the guard holds
    Gather,   ///< word = table[word & 63]
    ToLocal,  ///< local[word & 7] = word
    FromLocal,
    Count,  ///< counters[word & 7] += word, in global memory
    // Below this all threads of the block arrive together.
    Shuffle,
    Exchange,  ///< through shared memory
    Combine,   ///< an atomic in shared memory, whose total all read
    Ballot,
    Reduce,
  };
  Kind kind = Kind::Assign;
  const Operation* operation = nullptr;
  unsigned destination = 0;
  std::array<Source, 3> sources{};
  int guard = -1;  ///< predicate; -1: none
  bool negated = false;
  unsigned mode = 0, count = 0;  ///< which shuffle, reduction, atomic; how often, how far
  std::vector<Statement> body = {}, otherwise = {};
};

struct GeneratedProgram {
  unsigned blocks = 1, threads = 32;
  std::vector<Statement> statements;
};

/// In generated_program_value.h.
inline const std::vector<Operation>& operations();

/// Makes programs; `below(n)` decides: uniform in [0, n) or a fuzzer's bytes.
class ProgramGenerator {
 public:
  using Below = std::function<std::uint32_t(std::uint32_t)>;
  explicit ProgramGenerator(Below below) : below_(std::move(below)) {}

  GeneratedProgram make() {
    GeneratedProgram program;
    program.blocks = 1 + below_(3);
    program.threads = 32 * (1 + below_(4));
    budget_ = 20 + below_(60);
    while (budget_ > 0) program.statements.push_back(statement({.together = true}));
    return program;
  }

 private:
  /// Where a statement stands.
  struct Scope {
    bool together = false;  ///< all threads of the block come here
    bool in_loop = false;   ///< of each thread's own
    unsigned depth = 0;
  };

  Statement statement(Scope scope) {
    using Kind = Statement::Kind;
    if (budget_ > 0) --budget_;
    Statement made;
    const std::uint32_t what = below_(32);
    if (what < 18 || scope.depth > 3) return assignment();
    if (what < 21) return branching(scope);
    if (what < 23) return looping(scope);
    if (what < 24) return memory(Kind::Gather);
    if (what < 25) return memory(Kind::ToLocal);
    if (what < 26) return memory(Kind::FromLocal);
    if (what < 27) return memory(Kind::Count);
    if (!scope.together) {
      if (!scope.in_loop) return assignment();
      made.kind = Kind::Break;
      made.guard = static_cast<int>(below_(kPredicates));
      made.negated = below_(2) != 0;
      return made;
    }
    if (what < 28) return repeating(scope);
    constexpr Kind kTogether[] = {Kind::Shuffle, Kind::Exchange, Kind::Combine, Kind::Ballot,
                                  Kind::Reduce};
    made = memory(kTogether[below_(5)]);
    made.mode = below_(16);
    made.count = below_(64);
    return made;
  }
  std::vector<Statement> statements(Scope scope) {
    std::vector<Statement> made;
    for (std::uint32_t left = 1 + below_(5); left > 0; --left) made.push_back(statement(scope));
    return made;
  }
  Statement assignment() {
    Statement made;
    const auto& all = operations();
    made.operation = &all[below_(static_cast<std::uint32_t>(all.size()))];
    made.destination = below_(registers_of(made.operation->kinds[0]));
    for (std::size_t i = 1; i < made.operation->kinds.size(); ++i)
      made.sources[i - 1] = source(made.operation->kinds[i]);
    if (below_(4) == 0) {
      made.guard = static_cast<int>(below_(kPredicates));
      made.negated = below_(2) != 0;
    }
    return made;
  }
  Statement branching(Scope scope) {
    Statement made{.kind = Statement::Kind::If};
    made.guard = static_cast<int>(below_(kPredicates));
    made.negated = below_(2) != 0;
    ++scope.depth;
    scope.together = false;
    made.body = statements(scope);
    if (below_(2) != 0) made.otherwise = statements(scope);
    return made;
  }
  Statement looping(Scope scope) {
    Statement made{.kind = Statement::Kind::Loop};
    made.sources[0] = {.value = below_(kWords)};
    ++scope.depth;
    scope.together = false;
    scope.in_loop = true;
    made.body = statements(scope);
    return made;
  }
  Statement repeating(Scope scope) {
    Statement made{.kind = Statement::Kind::Repeat};
    made.count = 1 + below_(3);
    ++scope.depth;
    made.body = statements(scope);
    return made;
  }
  Statement memory(Statement::Kind kind) {
    Statement made{.kind = kind};
    made.destination = below_(kWords);
    for (Source& from : made.sources) from = {.value = below_(kWords)};
    return made;
  }
  Source source(char kind) {
    if (kind != 'w' || below_(4) != 0) return {.value = below_(registers_of(kind))};
    constexpr std::uint32_t kEdges[] = {0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff};
    const std::uint32_t which = below_(16);
    return {.immediate = true, .value = which < 8 ? kEdges[which] : below_(1u << 31) * 2};
  }
  static unsigned registers_of(char kind) {
    return kind == 'w' ? kWords : kind == 'f' ? kSingles : kind == 'l' ? kLongs : kPredicates;
  }

  Below below_;
  unsigned budget_ = 0;
};

}  // namespace raddle::test
