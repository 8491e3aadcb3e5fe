#include "raddle/timing/sm/lsu_queues.h"

namespace raddle::timing {

void LsuQueues::note_refusal(Cycle now, stats::SmCounters& count) {
  Queue& queue = served_;
  RADDLE_ASSERT(!queue.queue.empty());
  if (queue.refused && queue.why != queue.refused_for)
    add_refused(queue, now, queue.queue.front().owner.kernel, count);
  if (!queue.refused || queue.why != queue.refused_for) queue.refused_since = now;
  queue.refused_for = queue.why;
  queue.refused = queue.stuck = true;
}

void LsuQueues::add_refused(const Queue& queue, Cycle at, unsigned kernel,
                            stats::SmCounters& count) {
  if (!queue.refused || queue.queue.front().owner.kernel != kernel) return;
  count.l1d_reservation_fails += at - queue.refused_since;
  count.l1d_refused[static_cast<unsigned>(queue.refused_for)] += at - queue.refused_since;
}

void LsuQueues::obey(const policy::Knobs& knobs) {
  const unsigned all = served_.queue.capacity();
  for (unsigned tenant = 0; tenant < kMaxTenants; ++tenant) {
    const std::uint32_t places = knobs.tenant[tenant].lsu_queue;
    Queue* own = find(*this, tenant);
    if (own == nullptr && places != policy::kNoLimit)
      own = &others_.emplace_back(all, transactions_of_each_, tenant);
    if (own != nullptr) own->places = places == policy::kNoLimit ? 0 : std::min(all, places);
  }
}

policy::WarpMask LsuQueues::of_full(const policy::TenantMasks& of_tenant) const {
  policy::WarpMask out = 0;
  for (unsigned tenant = 0; tenant < kMaxTenants; ++tenant)
    if (entry_of(*this, tenant).full()) out |= of_tenant[tenant];
  return out;
}

}  // namespace raddle::timing
