// Regular expressions on packets: a child tries one expression from every byte of a packet. See
// README.md.
#include "common/child_device.h"

constexpr unsigned kSymbols = 64, kDead = 0, kStart = 1, kAccept = 255;
constexpr unsigned kHeaderBytes = 16;

// Before each packet's bytes: a port, the number of bytes, and their sum with the port inverted.
struct Header {
  unsigned port, bytes, flags, check;
};

// The expressions to try are those of the port: rule[rule_first[port]] and on, each the first row
// of its automaton. A row has the next state for each symbol.
struct Rules {
  const unsigned* rule_first;
  const unsigned* rule;
  const unsigned char* automaton;
};

// Does the expression match the bytes from `at` on?
static __device__ bool matches(const unsigned char* automaton, const unsigned char* packet,
                               unsigned at, unsigned bytes, unsigned row) {
  unsigned state = kStart;
  while (at < bytes && state != kDead && state != kAccept) {
    state = automaton[(row + state) * kSymbols + packet[at]];
    ++at;
  }
  return state == kAccept;
}

// Thread = byte at which a match may begin, the first `starts` of the packet.
extern "C" __global__ void regx_scan(const unsigned char* automaton, const unsigned char* packet,
                                     unsigned bytes, unsigned starts, unsigned row,
                                     unsigned* found) {
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < starts && matches(automaton, packet, at, bytes, row)) atomicAdd(found, 1u);
}

// The packet at `at`: reads its header, and tries what the rules of its port say.
template <bool kNested>
static __device__ void inspect(const unsigned char* at, const Rules& rules, unsigned* found,
                               unsigned threshold, unsigned child_block) {
  const Header header = *reinterpret_cast<const Header*>(at);
  if (header.check != ~(header.port + header.bytes + header.flags)) return;
  unsigned end = rules.rule_first[header.port + 1];
  for (unsigned r = rules.rule_first[header.port]; r < end; ++r) {
    unsigned row = rules.rule[r];
    ChildShare share = {0, 0};
    if (kNested) share = child_share(header.bytes, threshold, child_block);
    if (share.blocks != 0)
      LAUNCH_CHILD(regx_scan, share.blocks, child_block, own_stream(), rules.automaton,
                   at + kHeaderBytes, header.bytes, share.length, row, found);
    unsigned matched = 0;
    for (unsigned start = share.length; start < header.bytes; ++start)
      matched += matches(rules.automaton, at + kHeaderBytes, start, header.bytes, row);
    if (matched != 0) atomicAdd(found, matched);
  }
}

// Thread = packet.
template <bool kNested>
static __device__ void inspect_all(const unsigned* place, const unsigned char* data,
                                   unsigned packets, const Rules& rules, unsigned* found,
                                   unsigned threshold, unsigned child_block) {
  for (unsigned p = blockIdx.x * blockDim.x + threadIdx.x; p < packets; p += gridDim.x * blockDim.x)
    inspect<kNested>(data + place[p], rules, found + p, threshold, child_block);
}

extern "C" __global__ void regx_packets(const unsigned* place, const unsigned char* data,
                                        unsigned packets, const unsigned* rule_first,
                                        const unsigned* rule, const unsigned char* automaton,
                                        unsigned* found, unsigned threshold, unsigned child_block) {
  inspect_all<true>(place, data, packets, {rule_first, rule, automaton}, found, threshold,
                    child_block);
}

extern "C" __global__ void regx_packets_flat(const unsigned* place, const unsigned char* data,
                                             unsigned packets, const unsigned* rule_first,
                                             const unsigned* rule, const unsigned char* automaton,
                                             unsigned* found) {
  inspect_all<false>(place, data, packets, {rule_first, rule, automaton}, found, 0, 0);
}
