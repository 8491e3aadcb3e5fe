// Lanes of one warp that run apart, in turn: independent thread scheduling (compute capability 7.0
// and later) for programs that need it. As long as no lane waits for another lane of its warp, the
// reconvergence stack (lanes/control.h) runs one side of a branch to its end and then the other. A
// side that goes round in circles (spin.cpp) while others wait for it makes the warp part: those
// that wait innermost go on alone, and the sides take turns. They meet again where the first
// parting was enclosed, or earlier at an instruction that names them: a warp barrier, a shuffle, a
// vote, a barrier of the block. There a side waits for the lanes named, unless none of them can
// come any more.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/exec/isa/record.h"
#include "raddle/exec/run/activation.h"

namespace raddle::exec {

struct WarpState;

/// How far a side has come.
struct SideProgress {
  enum class At : std::uint8_t { Running, Meeting, Barrier };
  std::uint32_t lanes = 0;  ///< that were it when it began
  At at = At::Running;
  bool met = false;    ///< who is named where it stands has come, or never will
  bool asked = false;  ///< has gone round in circles since any side of the warp moved
};

/// A side that does not run. The lowest entry of its stack stands for where all meet: whoever comes
/// there finds a record that ends his turn.
struct Side {
  const Record* ip = nullptr;
  char* frame = nullptr;
  std::uint32_t mask = 0, effective = 0, gone = 0, local_base = 0, activation = 0;
  std::vector<StackEntry> entries = {};
  std::vector<std::shared_ptr<Activation>> activations = {};
  std::vector<std::uint32_t> functions = {}, allocated = {};
  SideProgress progress = {};
};

/// Of a warp that has parted.
struct Sides {
  Side base;                  ///< what goes on when all have met; runs nowhere
  SideProgress running;       ///< of the side that has its turn
  std::vector<Side> waiting;  ///< for their turn, the longest first
  /// Frames by depth and function: lanes of several sides may be in one function.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<Activation>> frames;
};

/// Lanes of the warp that have not ended and do not run now.
bool lanes_wait(const WarpState& warp);
/// The running side goes round in circles: others have their turn. False: none can do anything
/// that has not done so in vain since moved().
bool give_way(Context& c, WarpState& warp);
/// The running side does something.
void moved(WarpState& warp);
/// The running side is over, or all its lanes have come to where sides meet. False: no lane of the
/// warp is left.
bool next_side(Context& c, WarpState& warp);
/// The running side stands before an instruction that names other lanes: it or another side has its
/// turn then.
void meet(Context& c, WarpState& warp, SideProgress::At at);

}  // namespace raddle::exec
