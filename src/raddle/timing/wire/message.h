// What travels between SMs and memory: small values, no owner, nothing to free.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/base/types.h"
#include "raddle/timing/spec/endpoints.h"

namespace raddle::timing {

enum class MessageKind : std::uint8_t {
  Read,  ///< of sectors, or of words: the bank answers with every word of the line that it has
  Write,
  Atomic,
  Reduce,
  // Those of DeNovo (cache/denovo_l1.h, denovo_bank.h). To the bank:
  Register,   ///< the L1 has written the words
  Own,        ///< the same, but it wants their data first: an atomic
  WriteBack,  ///< data of registered words that lose their way
  // From the bank:
  Forward,     ///< to the owner: send the words to the requester
  Take,        ///< ... and give them up
  Invalidate,  ///< to the former owner: the words are the requester's, tell it so
  Recall,      ///< to the owner: give the words back, the bank needs the way
  WroteBack,   ///< a WriteBack is done
  // From the bank or the L1 that had the words:
  Registered,  ///< a Register is done for the words
  Owned,       ///< answer to Own
  // From an L1:
  Remote,    ///< answer to a Forward: words of a Read
  Recalled,  ///< answer to a Recall, to the bank
  // Between any two nodes:
  Transfer,  ///< a segment of a payload (wire/transfer.h)
};
inline constexpr unsigned kMessageKinds = static_cast<unsigned>(MessageKind::Transfer) + 1;

/// What a bank tells an L1 arrives in the order in which it was sent, so that an L1 whose data have
/// been taken back is not asked for them any more. Everything else may overtake.
constexpr bool in_order_from_bank(MessageKind kind) {
  return kind >= MessageKind::Forward && kind <= MessageKind::WroteBack;
}

/// 4-byte words of a line of 64 bytes.
using WordMask = std::uint16_t;
constexpr WordMask without(WordMask words, WordMask these) {
  return static_cast<WordMask>(words & static_cast<WordMask>(~these));
}
/// Message::peer of what the bank itself answers.
inline constexpr std::uint16_t kFromBank = 0xffff;

/// A request on its way to an L2 slice, and the same value on its way back as the reply: whoever
/// puts it on a network says in `to` where it goes. Writes and reductions are acknowledged (no
/// data) so that fences can wait for them. Under DeNovo `sm` and `tag` are the requester's all the
/// way, whoever is told of the request or answers it.
struct Message {
  std::uint32_t line = 0;    ///< address / machine line size
  std::uint16_t sm = 0;      ///< requester
  std::uint16_t tag = 0;     ///< requester's own handle; comes back unchanged
  std::uint8_t sectors = 0;  ///< sectors asked for, written, or delivered
  MessageKind kind = MessageKind::Read;
  std::uint8_t meeting = 0;        ///< atomic, reduction: lanes of the word with most, at least
  std::uint8_t kernel = 0;         ///< launch slot, for per-kernel statistics and policies
  std::uint8_t dram_accesses = 0;  ///< replies: accesses to DRAM the request has caused, 0, 1 or 2
  std::uint8_t core_rank = 0;      ///< requests: policy::kCoreRanks, if a DRAM policy wants them
  WordMask words = 0;              ///< DeNovo: asked for, written, or delivered
  std::uint16_t peer = 0;  ///< DeNovo: the L1 that is asked by the bank, or that answers for it
  NodeId to{};             ///< where the network takes it
  TenantId tenant{};       ///< whose request it is
};
static_assert(sizeof(Message) == 24);

}  // namespace raddle::timing
