// Who wants to know what each thread does with global memory, word by word: analyses whose question
// the op stream is too coarse for. Machine calls it while a launch is executed; without one,
// nothing of this costs anything (lanes/engine.cc).
#pragma once
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::exec {

class AccessObserver {
 public:
  /// What the observer wants to be told again when a copy of the loaded word is used; 0: nothing.
  using Tag = std::uint64_t;
  struct Thread {
    std::uint32_t block;   ///< linear number in the grid
    std::uint32_t number;  ///< linear number in the block
  };

  virtual ~AccessObserver() = default;
  /// The thread loads the 4-byte word at `word` (a multiple of 4) from global or constant memory.
  virtual Tag load(const Thread& thread, Address word) = 0;
  /// The thread computes with a value that is a copy of the word whose load gave `tag`: whichever
  /// thread loaded it, and whether it came through registers, shuffles, shared or local memory.
  /// Storing a copy to global memory, addressing with it and branching on it are uses; moving it
  /// about within the block is none.
  virtual void use(const Thread& thread, Tag tag) = 0;
  /// The thread stores `bytes` from `at`, in one instruction.
  virtual void store(const Thread& thread, Address at, unsigned bytes) = 0;
  /// An instruction was executed whose loads or copies are not seen (textures and surfaces, matrix
  /// products, barrier objects and the like); copies in the warp's registers are forgotten.
  virtual void unseen() = 0;
  /// All threads of the block have ended.
  virtual void ended(std::uint32_t block) = 0;
};

}  // namespace raddle::exec
