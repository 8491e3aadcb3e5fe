#include "raddle/timing/gpu/kmu.h"

#include <algorithm>

#include "raddle/policy/fault.h"

namespace raddle::timing {

void Kmu::launch(const GridLaunch& launch, Cycle arrival) {
  RADDLE_ASSERT(index(launch.tenant) < kMaxTenants);
  on_way_.push({arrival, launch.job, grids_.add(launch, arrival)});
}

const std::vector<GridId>& Kmu::tick(Cycle now) {
  entered_.clear();
  std::uint32_t left = per_cycle_;
  while (next_arrival() <= now && left != 0) {
    const GridId id = on_way_.top().grid;
    on_way_.pop();
    if (grids_[id].is.parent.depth != 0) {
      --left;
      has_device_launches_ = true;
      grids_[id].arrival = std::max(grids_[id].arrival, taken_until_);
    }
    arrive(id, now);
  }
  if (left == 0) taken_until_ = now + 1;
  while (can_admit() && admit(now)) {
  }
  return entered_;
}

void Kmu::arrive(GridId id, Cycle now) {
  policy_.on_grid(grids_.info(id));
  if (join(id, now)) return;
  pending_.add(grids_, id);
  if (id >= is_pending_.size()) is_pending_.resize(id + 1);
  is_pending_[id] = true;
}

/// As a group of blocks with a kernel under way, if the policy wants that.
bool Kmu::join(GridId id, Cycle now) {
  const GridLaunch& launch = grids_[id].is;
  if (!groups_join_ || launch.parent.depth == 0) return false;
  const KernelSet alike = entries_.alike(launch);
  if (!alike.any()) return false;
  const std::optional<unsigned> entry = policy_.join(grids_.info(id), alike);
  if (!entry) return false;
  if (*entry >= KernelSet::kSize || !alike.test(*entry))
    policy::wrong_answer("dispatch=" + name_, "names an entry with such a kernel");
  const Cycle first = grids_[entries_[*entry].grids.front()].begin;
  entries_.join(*entry, id);
  policy::GridInfo info = grids_.info(id);
  info.entry = entry;
  const Cycle search = search_of(info);
  enter(info, std::max(first, now + (search > set_up_ ? search - set_up_ : 0)));
  return true;
}

bool Kmu::admit(Cycle now) {
  const std::optional<GridId> id =
      policy_.admit({grids_.states(), pending_.first(), pending_.count(), entries_.free(), now});
  if (!id) {
    has_declined_ = true;
    declined_ = now;
    return false;
  }
  if (*id >= is_pending_.size() || !is_pending_[*id])
    policy::wrong_answer("dispatch=" + name_, "admits a grid that pends");
  is_pending_[*id] = false;
  pending_.remove(grids_, *id);
  policy::GridInfo info = grids_.info(*id);
  const Cycle begin = begin_of(grids_[*id], entries_.vacancy(), now) + search_of(info);
  info.entry = entries_.take(*id, grids_[*id].is);
  enter(info, begin);
  return true;
}

Cycle Kmu::search_of(const policy::GridInfo& grid) const {
  constexpr Cycle kMaximum = ~std::uint32_t{0};
  const Cycle search = policy_.search_cycles(grid);
  if (search > kMaximum)
    policy::wrong_answer("dispatch=" + name_, "searches for less than 2^32 cycles");
  return search;
}

/// Its way to the entry begins when both are there, unless the policy has let it wait.
Cycle Kmu::begin_of(const Grid& grid, const Entries::Vacancy& vacancy, Cycle now) const {
  Cycle from = std::max(grid.arrival, vacancy.since);
  if (has_declined_ && declined_ >= from) from = now;
  const Cycle known = vacancy.used ? (vacancy.since / window_ + 1) * window_ : 0;
  return std::max({from + entry_latency_, known, now});
}

/// It has info.entry.
void Kmu::enter(const policy::GridInfo& info, Cycle begin) {
  Grid& grid = grids_[info.id];
  grid.entry = *info.entry;
  grid.begin = begin;
  const auto slot = static_cast<std::uint8_t>(grid.entry);
  grid.launch = {.stream = grid.is.ops,
                 .code = grid.is.code,
                 .sequence = grid.is.job,
                 .slot = slot,
                 .tenant = grid.is.tenant,
                 .first_line = grid.is.first_line,
                 .max_on_sm = grid.is.max_on_sm,
                 .l1d_ways = grid.is.l1d_ways};
  policy_.on_enter(info);
  entered_.push_back(info.id);
}

void Kmu::describe(std::string& out) const {
  if (pending_.empty() && on_way_.empty()) return;
  out += "launches: " + std::to_string(pending_.count()) + " wait for an entry, " +
         std::to_string(on_way_.size()) + " are on their way\n";
}

}  // namespace raddle::timing
