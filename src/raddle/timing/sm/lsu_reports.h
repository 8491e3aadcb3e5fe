// What a load/store unit tells people and auditors: definitions for lsu.cpp.
#pragma once
#include <string>

#include "raddle/timing/sm/lsu.h"

namespace raddle::timing {

inline const char* in_words(stats::Refusal why) {
  switch (why) {
    case stats::Refusal::Mshr:
      return "no MSHR is free";
    case stats::Refusal::Merge:
      return "the line's MSHR can merge no more";
    case stats::Refusal::Way:
      return "every way of the set is reserved";
    case stats::Refusal::MissQueue:
      return "the miss queue is full";
    case stats::Refusal::StoreBuffer:
      return "the store buffer is full";
    case stats::Refusal::WriteBack:
      return "its line is on its way to the L2";
    case stats::Refusal::Count:
      break;
  }
  return "nothing";
}

template <L1Protocol L1>
void Lsu<L1>::describe(std::string& out) const {
  unsigned instructions = 0;
  queues_.each([&](const LsuQueues::Queue& queue) { instructions += queue.queue.size(); });
  out += "load/store unit: " + std::to_string(instructions) + " of " +
         std::to_string(queues_.served().queue.capacity()) + " instructions, " +
         std::to_string(loads_.taken()) + " loads in flight, " +
         std::to_string(l1_.missing_lines()) + " lines missing, miss queue " +
         std::to_string(port_.queued()) + " of " + std::to_string(port_.capacity()) + ", " +
         std::to_string(port_.credits()) + " flit credits";
  l1_.describe(out);
  queues_.each([&](const LsuQueues::Queue& queue) {
    if (!queue.refused) return;
    out += queue.tenant == LsuQueues::Queue::kAll
               ? "; its head"
               : "; tenant " + std::to_string(queue.tenant) + "'s head";
    out += " (warp slot " + std::to_string(queue.queue.front().owner.warp) +
           ") is blocked: " + in_words(queue.refused_for);
  });
}

template <L1Protocol L1>
void Lsu<L1>::audit(const SmKernelCounters& counters, std::vector<std::string>& broken) const {
  auto require = [&](const char* law, std::uint64_t left, std::uint64_t right) {
    if (left != right)
      broken.push_back("SM " + std::to_string(sm_) + ": " + law + " (" + std::to_string(left) +
                       " and " + std::to_string(right) + ")");
  };
  stats::SmCounters c = counters.total();
  std::uint64_t refused = 0;
  for (std::uint64_t cycles : c.l1d_refused) refused += cycles;
  require("L1D accesses = hits + pending hits + misses", c.l1d_accesses,
          c.l1d_hits + c.l1d_pending_hits + c.l1d_misses);
  require("refused cycles = sum of causes", c.l1d_reservation_fails, refused);
  require("load cycles = LSU + hit + miss queue + outside", c.load_cycles,
          c.load_lsu_cycles + c.load_hit_cycles + c.load_queue_cycles + c.load_outside_cycles);
  if (!idle()) return;
  require("requests = replies when nothing is under way", c.requests, c.replies);
  require("L1D fills = misses of loads and stores when nothing is under way",
          c.l1d_fills + cancelled_.total().requests, c.l1d_misses + c.l1d_store_misses);
}

}  // namespace raddle::timing
