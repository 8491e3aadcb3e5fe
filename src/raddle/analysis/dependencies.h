// Which data a kernel's threads read that earlier kernels have written, and where: IKRA (Huzaifa et
// al., TACO 2020), section 3 and table 1. Every word remembers its last writer; each distinct word
// that a thread loads in a launch counts once, in the class that its last writer makes it:
//
//   self         the block of the same coordinates in the launch before
//   ghost        a neighbouring block in the launch before (coordinates differ by at most 1), at
//                the rim of a tile that stays: the reading block has itself written, in the launch
//                before, some of the places (offsets in their arrays) that it writes now. Where
//                blocks move on from launch to launch, as in a wavefront, there is no rim
//   older_self   the block of the same coordinates in a launch further back
//   host         the host, after the first launch
//   elsewhere    any other block (older_self, host and elsewhere are the paper's "other")
//   same_kernel  some block of the same launch: no dependence between kernels
//   input        nobody, or the host before the first launch: no dependence
//
// Two ways to count what a thread loads:
//
//   executed  words that its load instructions (and atomics) name
//   logical   words whose values it computes with, wherever it has them from: a word that another
//             thread of the block has staged in shared memory counts for those who use it there,
//             not for the one that brought it. And a thread that makes several outputs counts each
//             output's words, as if a thread made one: an output ends where the thread is about to
//             store to an array (allocation) once more. So the tiling of a kernel and the registers
//             in which it keeps values from one output to the next do not show: these are the loads
//             of the mathematical kernel.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "raddle/analysis/line_map.h"
#include "raddle/base/fields.h"
#include "raddle/base/types.h"

namespace raddle::analysis {

enum class Producer : std::uint8_t {
  Self,
  Ghost,
  OlderSelf,
  Host,
  Elsewhere,
  SameKernel,
  Input,
};
inline constexpr unsigned kProducers = 7;
inline constexpr std::array<std::string_view, kProducers> kProducerNames = {
    "self", "ghost", "older_self", "host", "elsewhere", "same_kernel", "input"};

/// Loads by producer.
struct DependenceCounts {
  std::array<std::uint64_t, kProducers> loads{};
  std::uint64_t of(Producer p) const { return loads[static_cast<unsigned>(p)]; }
  std::uint64_t other() const {
    return of(Producer::OlderSelf) + of(Producer::Host) + of(Producer::Elsewhere);
  }
  /// Dependences between kernels, what shares are shares of.
  std::uint64_t total() const { return of(Producer::Self) + of(Producer::Ghost) + other(); }
  DependenceCounts& operator+=(const DependenceCounts& o);
};

struct KernelDependences {
  std::string name;
  std::uint64_t launches = 0;
  DependenceCounts executed, logical;
  /// Of the logical loads, over the launches that have dependences: the smallest and greatest share
  /// of self. 0 and 0 where none has.
  double min_self = 0, max_self = 0;
  std::uint64_t dependent_launches = 0;
};

/// Told what happens, in order. Blocks of a launch may take turns.
class Dependencies {
 public:
  using Tag = std::uint64_t;  ///< of a loaded word: never 0

  Dependencies() = default;
  void allocated(Address at, std::uint64_t bytes) { arrays_[at] = at + bytes; }
  void freed(Address at);
  void host_wrote(Address word);

  void begin(const std::string& kernel, Dim3 grid);
  /// `word` is a multiple of 4.
  Tag load(std::uint32_t block, std::uint32_t thread, Address word);
  void use(std::uint32_t block, std::uint32_t thread, Tag tag);
  void store(std::uint32_t block, std::uint32_t thread, Address at, unsigned bytes);
  void unseen() { ++unseen_; }
  void ended(std::uint32_t block);
  void end();

  /// By name, in order of their first launch.
  const std::vector<KernelDependences>& kernels() const { return kernels_; }
  KernelDependences total() const;
  /// Instructions of which loads or copies were not seen (exec/run/access_observer.h).
  std::uint64_t unseen_instructions() const { return unseen_; }
  void visit(FieldVisitor& v) const;

 private:
  struct Writer {
    std::uint32_t launch = 0;  // 0: nobody
    std::uint32_t block = 0;
  };
  static constexpr std::uint32_t kHost = ~0u;
  static constexpr unsigned kPageWords = 1024;
  using Page = std::array<Writer, kPageWords>;
  /// Of one thread and word.
  struct Touch {
    bool loaded = false;
    std::uint32_t used = 0;  // in that segment last; 0: never
  };
  using Counts = std::array<std::uint64_t, kProducers>;
  struct Thread {
    std::uint32_t segment = 1;       // ends with each store
    std::uint32_t first = 1;         // segment of the output under way
    std::vector<Address> stored_to;  // by that output
    Counts again{};  // uses since the last store of words that the output has used before
  };
  struct Block {
    LineMap<Touch, std::uint64_t> touched;  // by word and thread
    std::vector<Thread> threads;
    std::vector<std::uint32_t> written;  // offsets in their arrays, in words
    DependenceCounts executed, logical;  // Ghost: perhaps, until the block has ended
  };

  Page& page(Address word);
  Writer& writer(Address word) { return page(word)[word / 4 % kPageWords]; }
  Address array_of(Address at) const;
  Producer producer(std::uint32_t block, const Writer& w) const;
  Dim3 coordinates(std::uint32_t block, std::uint32_t launch) const;
  Thread& thread(Block& block, std::uint32_t number);
  /// Did the block of the same coordinates write one of these places in the launch before?
  bool stays(std::uint32_t block, const std::vector<std::uint32_t>& written) const;

  std::map<Address, Address> arrays_;                                 // start -> end
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> writers_;  // never iterated over
  std::vector<Dim3> grids_;                                           // by launch - 1
  std::vector<KernelDependences> kernels_;
  std::size_t kernel_ = 0;  // of the launch under way
  DependenceCounts launch_logical_;
  std::map<std::uint32_t, Block> blocks_;                             // that run
  std::vector<std::vector<std::uint32_t>> written_, written_before_;  // by block, sorted
  std::uint64_t unseen_ = 0;
};

}  // namespace raddle::analysis
