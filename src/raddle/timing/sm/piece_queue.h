// Pieces of the memory instructions that wait in the load/store unit, in order, as they came from
// the stream (which may overwrite its own).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/base/prefetch.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class PieceQueue {
 public:
  /// For up to so many instructions of at most `most` pieces.
  explicit PieceQueue(unsigned instructions, unsigned most = trace::kMaxPieces)
      : piece_(std::size_t{instructions + 1} * most) {}
  /// The pieces of one instruction; they stay together.
  void push(const std::uint32_t* payload, unsigned pieces) {
    if (tail_ + pieces > piece_.size()) {
      end_ = tail_;
      tail_ = 0;
    }
    for (unsigned i = 0; i < pieces; ++i, payload += trace::kPieceWords)
      piece_[tail_++] = {payload[0], payload[1], payload[2]};
  }
  /// The piece behind those that were popped. Precondition: there is one.
  const trace::Piece& next() const { return piece_[head_ == end_ ? 0 : head_]; }
  trace::Piece pop() {
    if (head_ == end_) {
      head_ = 0;
      end_ = static_cast<unsigned>(piece_.size());
    }
    const trace::Piece* at = &piece_[head_++];
    prefetch(at + 64 / sizeof *at + 1);
    const trace::Piece out = *at;
    if (head_ == tail_) head_ = tail_ = 0;  // empty: little memory is touched again and again
    return out;
  }

 private:
  std::vector<trace::Piece> piece_;
  unsigned head_ = 0, tail_ = 0;
  unsigned end_ = static_cast<unsigned>(piece_.size());  // where the reader turns round
};

}  // namespace raddle::timing
