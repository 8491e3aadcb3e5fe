// Pieces of the memory instructions that wait in the load/store unit, in order, as they came from
// the stream (which may overwrite its own).
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/base/prefetch.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class TransactionQueue {
 public:
  /// For up to so many instructions of at most `most` pieces.
  explicit TransactionQueue(unsigned instructions, unsigned maximum = trace::kMaxTransactions)
      : transaction_(std::size_t{instructions + 1} * maximum) {}
  /// The pieces of one instruction; they stay together.
  void push(const std::uint32_t* payload, unsigned transactions) {
    if (tail_ + transactions > transaction_.size()) {
      end_ = tail_;
      tail_ = 0;
    }
    for (unsigned i = 0; i < transactions; ++i, payload += trace::kTransactionWords)
      transaction_[tail_++] = {payload[0], payload[1], payload[2]};
  }
  /// The piece behind those that were popped. Precondition: there is one.
  const trace::Transaction& next() const { return transaction_[head_ == end_ ? 0 : head_]; }
  trace::Transaction pop() {
    if (head_ == end_) {
      head_ = 0;
      end_ = static_cast<unsigned>(transaction_.size());
    }
    const trace::Transaction* at = &transaction_[head_++];
    prefetch(at + 64 / sizeof *at + 1);
    const trace::Transaction out = *at;
    if (head_ == tail_) head_ = tail_ = 0;  // empty: little memory is touched again and again
    return out;
  }

 private:
  std::vector<trace::Transaction> transaction_;
  unsigned head_ = 0, tail_ = 0;
  unsigned end_ = static_cast<unsigned>(transaction_.size());  // where the reader turns round
};

}  // namespace raddle::timing
