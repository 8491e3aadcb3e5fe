#include "raddle/exec/run/warp_clocks.h"

#include "raddle/ptx/module.h"

namespace raddle::exec {

namespace {
template <class Clocks>
void join(Clocks& to, const Clocks& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

/// What the instruction does to asynchronous copies; those in bulk are no races' business.
void add_copies(const ptx::Instruction& i, Order& order) {
  using Copies = Order::Copies;
  if (i.opcode != "cp" || !i.has("async") || i.has("bulk") || i.has("mbarrier")) return;
  order.copies = i.has("commit_group") ? Copies::EndGroup
                 : i.has("wait_all")   ? Copies::WaitForAll
                 : i.has("wait_group") ? Copies::Wait
                                       : Copies::Start;
  if (order.copies == Copies::Wait)
    order.groups_left = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(i.operands.at(0).bits, ~std::uint32_t{0}));
}
}  // namespace

Order order_of(const ptx::Instruction& i) {
  Order order;
  order.fence = i.opcode == "membar" || (i.opcode == "fence" && !i.has("proxy"));
  order.updates = i.opcode == "atom" || i.opcode == "red";
  order.returns = i.opcode == "atom";
  add_copies(i, order);
  if (!order.updates && i.opcode != "ld" && i.opcode != "st") return order;
  order.acquires = i.has("acquire") || i.has("acq_rel");
  order.releases = i.has("release") || i.has("acq_rel");
  order.strong = order.updates || order.acquires || order.releases || i.has("relaxed") ||
                 i.has("volatile") || i.has("mmio");
  return order;
}

void WarpClocks::arrives(unsigned warp, unsigned barrier, bool waits) {
  join(barriers_[barrier], own_[warp]);
  if (!waits) ++own_[warp][warp];
}

void WarpClocks::goes_on(unsigned warp, unsigned barrier) {
  join(own_[warp], barriers_[barrier]);
  ++own_[warp][warp];
}

void WarpClocks::fence(unsigned warp) {
  join(own_[warp], observed_[warp]);
  fenced_[warp] = own_[warp];
  ++own_[warp][warp];
}

/// Groups are a thread's. Counted by warp there are at least as many behind a copy as its thread
/// has, so that no group counts as under way that its thread has waited for.
void WarpClocks::copies(unsigned warp, Order order) {
  using Copies = Order::Copies;
  if (order.copies == Copies::EndGroup || order.copies == Copies::WaitForAll) ++group_[warp];
  if (order.copies != Copies::Wait && order.copies != Copies::WaitForAll) return;
  std::uint32_t& over = own_[warp][copies_of(warp)];
  const std::uint32_t ended = group_[warp] - 1;
  over = std::max(over, ended - std::min(ended, order.groups_left));
}

void WarpClocks::reads(unsigned warp, std::uint64_t at, unsigned bytes, Order order) {
  if (!order.strong || (order.updates && !order.returns) || released_.empty()) return;
  for (auto word = released_.lower_bound(at); word != released_.end() && word->first < at + bytes;
       ++word)
    join(order.acquires ? own_[warp] : observed_[warp], word->second.clocks);
}

/// A value made from an earlier one, and one that the same warp writes after it, pass on what the
/// earlier one released; any other write ends that.
void WarpClocks::writes(unsigned warp, std::uint64_t at, unsigned bytes, Order order) {
  const auto first = released_.lower_bound(at);
  const bool known = first != released_.end() && first->first == at;
  Release release;
  if (known && (order.updates || first->second.writer == warp)) release = first->second;
  released_.erase(first, released_.lower_bound(at + bytes));
  // Without a fence before it a relaxed write releases nothing: there may be very many.
  if (!order.strong || (!known && !order.releases && fenced_[warp][warp] == 0)) return;
  join(release.clocks, order.releases ? own_[warp] : fenced_[warp]);
  release.writer = warp;
  released_[at] = release;
  if (order.releases) ++own_[warp][warp];
}

}  // namespace raddle::exec
