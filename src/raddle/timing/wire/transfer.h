// Transfers: payloads of any length from one node to another (a warp's context, a block of shared
// memory), cut into segments of at most a largest packet. A segment is a packet like any other: the
// networks count and delay it as such, and segments of several transfers, and other packets, mix.
//
// Only what costs time travels: a segment carries its number, how many there are, and the sender's
// handle. The payload itself stays with the sender until the last segment is there; then the
// receiver takes it from the sender's table. Channels of a mesh may change the order of segments,
// so they are counted, not expected in turn. A handle is free again `wire` cycles after its payload
// was taken, as if word of it had to come back: with a wire of at least a window, sender and
// receiver may run on different threads and neither sees anything that depends on which is faster.
//
// Left out: loss, and limits of what a receiver can reassemble at once.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/ring.h"
#include "raddle/timing/spec/packet_size.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

/// What a message of kind Transfer says.
struct Segment {
  std::uint16_t number = 0, count = 1;  ///< of the transfer's segments
  std::uint16_t handle = 0;             ///< of the payload, the sender's
  std::uint16_t bytes = 0;              ///< that this one carries
  NodeId from{}, to{};

  static constexpr std::uint32_t kMaxSegments = 0xffff;
  static Segment of(const Message& m) {
    RADDLE_ASSERT(m.kind == MessageKind::Transfer);
    return {.number = static_cast<std::uint16_t>(m.line),
            .count = static_cast<std::uint16_t>(m.line >> 16),
            .handle = m.tag,
            .bytes = m.words,
            .from = static_cast<NodeId>(m.peer),
            .to = m.to};
  }
  /// `m` as the segment's message; whose it is (sm, kernel, tenant) stays as it was.
  void write_to(Message& m) const {
    m.kind = MessageKind::Transfer;
    m.line = std::uint32_t{count} << 16 | number;
    m.tag = handle;
    m.words = bytes;
    m.sectors = 0;
    m.peer = static_cast<std::uint16_t>(from);
    m.to = to;
  }
};

/// How a payload is cut.
class Segmentation {
 public:
  Segmentation(const PacketSize& size, unsigned max_flits)
      : size_(size), maximum_(max_flits * size.flit_bytes - size.header_bytes) {
    RADDLE_ASSERT(max_flits * size.flit_bytes > size.header_bytes && maximum_ <= 0xffff);
  }
  /// Bytes of payload in a full segment.
  unsigned maximum() const { return maximum_; }
  /// An empty payload is a header.
  unsigned segments(std::uint32_t bytes) const {
    return std::max<std::uint32_t>(1, (bytes + maximum_ - 1) / maximum_);
  }
  unsigned bytes_of(std::uint32_t bytes, unsigned number) const {
    RADDLE_ASSERT(number < segments(bytes));
    return std::min<std::uint32_t>(maximum_, bytes - number * maximum_);
  }
  /// Of the whole transfer, headers included.
  std::uint64_t flits(std::uint32_t bytes) const {
    const unsigned last = segments(bytes) - 1;
    return std::uint64_t{last} * size_.flits(maximum_) + size_.flits(bytes_of(bytes, last));
  }

 private:
  PacketSize size_;
  unsigned maximum_;
};

struct TransferCounters {
  std::uint64_t transfers = 0, segments = 0, bytes = 0;
  friend bool operator==(const TransferCounters&, const TransferCounters&) = default;
};

/// Transfers of one node that have not left, segment by segment: what its port sees of them.
class SegmentQueue {
 public:
  SegmentQueue(NodeId node, const Segmentation& cut, unsigned transfers)
      : node_(node), cut_(cut), queue_(transfers) {}

  /// Nothing is left to put on the network.
  bool empty() const { return queue_.empty(); }
  /// Transfers of which a segment is left.
  unsigned size() const { return queue_.size(); }
  /// The next segment. Precondition: !empty().
  Message front() const {
    const Queued& q = queue_.front();
    Message m = q.whose;
    const auto bytes = static_cast<std::uint16_t>(cut_.bytes_of(q.bytes, q.next));
    Segment{.number = q.next,
            .count = q.count,
            .handle = q.handle,
            .bytes = bytes,
            .from = node_,
            .to = q.to}
        .write_to(m);
    return m;
  }
  /// It is on the network.
  void pop() {
    Queued& q = queue_.front();
    ++count_.segments;
    count_.bytes += cut_.bytes_of(q.bytes, q.next);
    if (++q.next == q.count) queue_.pop();
  }
  const TransferCounters& counters() const { return count_; }

 protected:
  void push(NodeId to, std::uint32_t bytes, unsigned handle, const Message& whose) {
    const unsigned segments = cut_.segments(bytes);
    RADDLE_ASSERT(segments <= Segment::kMaxSegments);
    queue_.push({.whose = whose,
                 .bytes = bytes,
                 .to = to,
                 .handle = static_cast<std::uint16_t>(handle),
                 .next = 0,
                 .count = static_cast<std::uint16_t>(segments)});
    ++count_.transfers;
  }

 private:
  struct Queued {
    Message whose;
    std::uint32_t bytes = 0;
    NodeId to{};
    std::uint16_t handle = 0, next = 0, count = 0;
  };
  NodeId node_;
  Segmentation cut_;
  Ring<Queued> queue_;
  TransferCounters count_;
};

/// The sending side of one node: the queue, and the table of its payloads.
template <class Payload>
class TransferSender : public SegmentQueue {
 public:
  /// `handles`: transfers whose payloads it can hold; `wire`: cycles until it hears that one was
  /// taken, at least a window.
  TransferSender(NodeId node, const Segmentation& cut, unsigned handles, Cycle wire)
      : SegmentQueue(node, cut, handles),
        wire_(wire),
        slots_(std::make_unique<Slot[]>(handles)),
        handles_(handles) {
    RADDLE_ASSERT(handles != 0 && handles <= 0xffff && wire != 0);
  }

  /// Whether a handle is free for one more transfer. When one will be is not known before: who
  /// waits asks again, every cycle or every window.
  bool has_room(Cycle now) const {
    for (unsigned h = 0; h < handles_; ++h)
      if (free_at(h) <= now) return true;
    return false;
  }
  /// Queues a transfer behind those before it. `whose`: sm, kernel and tenant of its packets.
  /// Precondition: has_room(now).
  void send(Cycle now, NodeId to, std::uint32_t bytes, Payload payload, const Message& whose = {}) {
    unsigned h = 0;
    while (h < handles_ && free_at(h) > now) ++h;
    RADDLE_ASSERT(h < handles_);
    Slot& slot = slots_[h];
    slot.payload = std::move(payload);
    slot.used = true;
    slot.taken_at.store(kNever, std::memory_order_relaxed);
    push(to, bytes, h, whose);
  }

  /// By the receiver, at `now`, when every segment of the transfer has come.
  Payload take(unsigned handle, Cycle now) {
    RADDLE_ASSERT(handle < handles_ && slots_[handle].used);
    Slot& slot = slots_[handle];
    RADDLE_ASSERT(slot.taken_at.load(std::memory_order_relaxed) == kNever);
    Payload payload = std::move(slot.payload);
    slot.taken_at.store(now, std::memory_order_release);
    return payload;
  }

 private:
  struct Slot {
    Payload payload{};
    bool used = false;                    // has ever been
    std::atomic<Cycle> taken_at{kNever};  // when its payload was taken
  };
  /// Of a payload taken in this very window nothing is known yet, on whatever thread that was.
  Cycle free_at(unsigned handle) const {
    const Slot& slot = slots_[handle];
    if (!slot.used) return 0;
    const Cycle taken = slot.taken_at.load(std::memory_order_acquire);
    return taken == kNever ? kNever : taken + wire_;
  }

  Cycle wire_;
  std::unique_ptr<Slot[]> slots_;
  unsigned handles_;
};

/// The receiving side of one node.
template <class Payload>
class TransferReceiver {
 public:
  using Sender = TransferSender<Payload>;

  /// Senders by node, null where there is none. They must outlive the receiver.
  explicit TransferReceiver(const std::vector<Sender*>& senders) : senders_(senders) {}

  /// A segment is there. done(from, payload) if it was the transfer's last to come.
  template <class Done>
  void arrive(Cycle now, const Message& m, Done done) {
    const Segment s = Segment::of(m);
    RADDLE_ASSERT(s.count != 0 && s.number < s.count);
    ++count_.segments;
    count_.bytes += s.bytes;
    Open& open = find_or_add(s);
    RADDLE_ASSERT(open.left != 0 && open.count == s.count);
    if (--open.left != 0) return;
    open = open_.back();
    open_.pop_back();
    ++count_.transfers;
    const auto from = static_cast<std::size_t>(s.from);
    RADDLE_ASSERT(from < senders_.size() && senders_[from] != nullptr);
    done(s.from, senders_[from]->take(s.handle, now));
  }
  /// Transfers of which some segments have come.
  unsigned under_way() const { return static_cast<unsigned>(open_.size()); }
  const TransferCounters& counters() const { return count_; }

 private:
  struct Open {
    NodeId from{};
    std::uint16_t handle = 0, count = 0, left = 0;
  };
  Open& find_or_add(const Segment& s) {
    for (Open& open : open_)
      if (open.from == s.from && open.handle == s.handle) return open;
    return open_.emplace_back(Open{s.from, s.handle, s.count, s.count});
  }

  const std::vector<Sender*>& senders_;
  std::vector<Open> open_;
  TransferCounters count_;
};

}  // namespace raddle::timing
