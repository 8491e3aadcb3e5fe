#include "raddle/timing/gpu/migration_unit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/policy/fault.h"
#include "raddle/timing/noc/mesh.h"
#include "raddle/timing/wire/memory_ports.h"

namespace raddle::timing {

namespace {
/// Contexts and messages of an SM on their way at a time; more wait before its port.
constexpr unsigned kHandles = 64;

/// A segment is a packet as large as those that carry a line.
Segmentation segmentation_of(const MachineSpec& machine) {
  const PortSpec port(machine);
  return {port.packet, port.largest_packet};
}

/// SMs at the four neighbouring nodes; none where the interconnect is no mesh.
std::vector<policy::Neighbours> neighbours_of(const MachineSpec& machine) {
  const policy::Neighbours nobody = {policy::kNoSm, policy::kNoSm, policy::kNoSm, policy::kNoSm};
  std::vector<policy::Neighbours> out(machine.sm.count, nobody);
  if (machine.noc.topology != Topology::Mesh) return out;
  const MeshShape mesh = mesh_shape(machine.noc.mesh, machine.endpoints());
  std::vector<std::uint32_t> sm_at(std::size_t{mesh.columns} * mesh.rows, policy::kNoSm);
  for (unsigned sm = 0; sm < machine.sm.count; ++sm) sm_at[mesh.place[sm]] = sm;
  for (unsigned sm = 0; sm < machine.sm.count; ++sm) {
    const unsigned node = mesh.place[sm], x = node % mesh.columns, y = node / mesh.columns;
    if (x + 1 < mesh.columns) out[sm][0] = sm_at[node + 1];
    if (y != 0) out[sm][1] = sm_at[node - mesh.columns];
    if (x != 0) out[sm][2] = sm_at[node - 1];
    if (y + 1 < mesh.rows) out[sm][3] = sm_at[node + mesh.columns];
  }
  return out;
}
}  // namespace

policy::MigratePolicy::Context MigrationUnit::context_of(const MachineSpec& machine,
                                                         std::uint64_t seed) {
  return {machine.sm.warps, machine.sm.l1d.mshr_entries, machine.sm.l1d.mshr_merges,
          neighbours_of(machine), seed};
}

class MigrationUnit::View final : public policy::MigrateView {
 public:
  View(MigrationUnit& unit, Cycle now) : unit_(unit), now_(now) {}
  Cycle now() const override { return now_; }
  std::span<const std::uint16_t> mshrs() const override { return unit_.board_.mshrs; }
  bool miss(unsigned sm, const policy::MissPlace& place, policy::PendingMiss& out) const override {
    return unit_.sms_[sm]->miss(place, out);
  }
  policy::WarpMask resident(unsigned sm) const override { return unit_.sms_[sm]->resident(); }
  policy::WarpState warp(unsigned sm, unsigned slot) const override {
    policy::WarpState state = unit_.sms_[sm]->state_of(slot);
    if (state.adopted) state.arrived = unit_.arrived_at_[sm][slot];
    return state;
  }
  bool may_leave(unsigned sm, unsigned slot) const override {
    return unit_.sms_[sm]->may_export(slot) == ExportRefusal::None;
  }
  bool fits(unsigned sm, std::span<const unsigned> slots, unsigned to) const override {
    if (sm == to) return false;
    BlockNeeds sum;
    for (const unsigned slot : slots) {
      if (unit_.sms_[sm]->is_home_of(slot, to)) return false;
      sum += unit_.sms_[sm]->context_needs(slot);
    }
    return unit_.dispatcher_.resources(to).fits_beside(sum);
  }
  unsigned outgoing(unsigned sm) const override {
    return unit_.senders_.empty() ? 0 : unit_.senders_[sm]->size() + unit_.before_port_[sm];
  }
  std::span<const std::uint32_t> changed() const override { return unit_.changed_; }
  void move(const policy::Migration& migration) override { unit_.move(now_, migration); }

 private:
  MigrationUnit& unit_;
  Cycle now_;
};

MigrationUnit::MigrationUnit(const MachineSpec& machine,
                             std::unique_ptr<policy::MigratePolicy> policy, std::string name,
                             std::span<const std::unique_ptr<Sm>> sms, Dispatcher& dispatcher,
                             Network& network, Cycle window)
    : policy_(std::move(policy)),
      name_(std::move(name)),
      dispatcher_(dispatcher),
      window_(window),
      board_(machine.sm.count),
      from_noc_(machine.sm.count * port_capacity(machine)),
      before_port_(machine.sm.count),
      arrived_at_(machine.sm.count, std::vector<Cycle>(machine.sm.warps)) {
  RADDLE_ASSERT(sms.size() == machine.sm.count);
  const policy::Passage passage = policy_->passage();
  const bool free = passage.transfer == policy::Passage::Transfer::Free;
  const Segmentation cut = segmentation_of(machine);
  const Cycle wire = std::max<Cycle>(window, machine.noc.latency_cycles);
  for (unsigned sm = 0; sm < sms.size(); ++sm) {
    sms_.push_back(&sms[sm]->migration());
    if (!free) {
      const NodeId node = Endpoints::sm(sm);
      senders_.push_back(std::make_unique<Sender>(node, cut, kHandles, wire));
      directory_.push_back(senders_.back().get());
      network.connect_output(node, from_noc_, nullptr);
    }
    sms_[sm]->allow(board_, free ? nullptr : senders_.back().get(), passage.shared);
  }
  for (unsigned sm = 0; sm < directory_.size(); ++sm) receivers_.emplace_back(directory_);
}

// --- component -----------------------------------------------------------------------------------

Cycle MigrationUnit::next_arrival(Cycle from) const {
  const bool look =
      board_.any_ticked.load(std::memory_order_relaxed) || dispatcher_.occupancy_changed();
  return look ? from : std::min(due_, from_noc_.next_arrival());
}

/// Takes what the network delivers; what it is meant for happens between windows.
Cycle MigrationUnit::tick(Cycle now) {
  for (; from_noc_.next_arrival() <= now; from_noc_.pop()) {
    const Message& m = from_noc_.front();
    const auto sm = static_cast<std::uint32_t>(m.to);
    receivers_[sm].arrive(now, m, [&](NodeId, Cargo cargo) {
      arrived_.push_back({sm, std::move(cargo)});
    });
  }
  const Cycle next = arrived_.empty() ? std::min(due_, from_noc_.next_arrival()) : 0;
  return std::max(now + 1, next);
}

// --- between windows -----------------------------------------------------------------------------

void MigrationUnit::act(Cycle begin) {
  if (!arrived_.empty()) take_arrivals(begin);
  if (board_.notified.exchange(false, std::memory_order_relaxed)) hear(begin);
  // What the policy may see of SMs: with cycles skipped, it is asked only when some of it changes.
  const bool ticked = board_.any_ticked.exchange(false, std::memory_order_relaxed);
  const bool blocks = dispatcher_.take_occupancy_changed();
  if (ticked || blocks || begin >= look_at_) look(begin);
  if (!outgoing_.empty()) send_outgoing(begin);
  const bool busy = !arrived_.empty() || !outgoing_.empty();
  due_ = busy ? begin + window_ : look_at_;
}

void MigrationUnit::take_arrivals(Cycle now) {
  for (Arrived& a : std::exchange(arrived_, {})) {
    --on_their_way_;
    board_.ticked[a.sm] = 1;  // what comes changes it now, not when it ticks
    board_.any_ticked.store(true, std::memory_order_relaxed);
    if (const WarpEnded* ended = std::get_if<WarpEnded>(&a.cargo))
      sms_[a.sm]->warp_ended_abroad(now, *ended);
    else if (const HomeCall* call = std::get_if<HomeCall>(&a.cargo))
      sms_[a.sm]->take_call(now, *call);
    else import(now, a.sm, std::get<WarpContext>(a.cargo));
  }
}

/// There is a slot: room for the warp is reserved, and an SM has no warp that the account lacks.
void MigrationUnit::import(Cycle now, std::uint32_t sm, const WarpContext& context) {
  RADDLE_ASSERT(sms_[sm]->may_import(context) == ImportRefusal::None);
  arrived_at_[sm][sms_[sm]->import_warp(now, context)] = now;
}

void MigrationUnit::hear(Cycle now) {
  for (unsigned sm = 0; sm < sms_.size(); ++sm) hear(now, sm);
}

void MigrationUnit::hear(Cycle now, unsigned sm) {
  for (const WarpEnded& ended : sms_[sm]->ended_here()) {
    dispatcher_.resources(sm).release_beside(ended.needs);
    dispatcher_.resources_changed(now, sm);
    ++count_.messages;
    send(sm, ended.home.sm, 0, ended, *ended.launch);
  }
  sms_[sm]->ended_here().clear();
  for (const HomeCall& call : sms_[sm]->calls()) {
    RADDLE_ASSERT(call.from() == sm);
    ++count_.messages;
    count_.message_bytes += call.bytes();
    send(sm, call.to(), call.bytes(), call, *call.launch);
  }
  sms_[sm]->calls().clear();
}

void MigrationUnit::look(Cycle now) {
  changed_.clear();
  for (std::uint32_t sm = 0; sm < board_.ticked.size(); ++sm)
    if (std::exchange(board_.ticked[sm], std::uint8_t{0}) != 0) changed_.push_back(sm);
  View view(*this, now);
  const Cycle next = policy_->look(view);
  if (next <= now) policy::wrong_answer("migrate=" + name_, "looks again after now");
  look_at_ = next == kNever ? kNever : (next + window_ - 1) / window_ * window_;
}

void MigrationUnit::move(Cycle now, const policy::Migration& m) {
  const bool named = m.sm < sms_.size() && m.to < sms_.size() && m.sm != m.to &&
                     (sms_[m.sm]->resident() >> m.slot & 1) != 0 &&
                     !sms_[m.sm]->is_home_of(m.slot, m.to) &&
                     sms_[m.sm]->may_export(m.slot) == ExportRefusal::None;
  const bool sound =
      named && dispatcher_.resources(m.to).fits_beside(sms_[m.sm]->context_needs(m.slot));
  if (!sound)
    policy::wrong_answer("migrate=" + name_, "names a warp that may leave, and for where");
  WarpContext context = sms_[m.sm]->export_warp(now, m.slot);
  Occupancy& from = dispatcher_.resources(m.sm);
  if (context.home.sm == m.sm) from.release_part(context.home.slot, context.needs);
  else from.release_beside(context.needs);
  dispatcher_.resources(m.to).reserve_beside(context.needs);
  dispatcher_.resources_changed(now, m.sm);
  dispatcher_.resources_changed(now, m.to);
  const std::uint32_t bytes = context.bytes();
  ++count_.contexts;
  ++moves_[{m.sm, m.to}];
  count_.context_bytes += bytes;
  const Launch& launch = *context.launch;
  send(m.sm, m.to, bytes, std::move(context), launch);
}

void MigrationUnit::send(std::uint32_t from, std::uint32_t to, std::uint32_t bytes, Cargo cargo,
                         const Launch& launch) {
  ++on_their_way_;
  if (senders_.empty()) {
    arrived_.push_back({to, std::move(cargo)});
    return;
  }
  Message whose;
  whose.sm = static_cast<std::uint16_t>(from);
  whose.kernel = launch.slot;
  whose.tenant = launch.tenant;
  outgoing_.push_back({from, to, bytes, whose, std::move(cargo)});
  ++before_port_[from];
}

void MigrationUnit::send_outgoing(Cycle now) {
  std::erase_if(outgoing_, [&](Outgoing& o) {
    Sender& sender = *senders_[o.from];
    if (!sender.has_room(now)) return false;
    sender.send(now, Endpoints::sm(o.to), o.bytes, std::move(o.cargo), o.whose);
    sms_[o.from]->segments_wait(now);
    --before_port_[o.from];
    return true;
  });
}

// --- results -------------------------------------------------------------------------------------

void MigrationUnit::visit_statistics(FieldVisitor& v) {
  policy_->visit_statistics(v);
  MigrationCounters sum;
  for (const auto& sm : sms_) stats::accumulate<MigrationCounters>(sum, sm->counters());
  v.field("context_bytes", count_.context_bytes, {}, "bytes", "of contexts that left an SM");
  v.field("messages", count_.messages, {}, "",
          "between warps abroad and their blocks: ends, barriers, shared memory");
  v.field("message_bytes", count_.message_bytes, {}, "bytes", "behind their headers");
  v.field("home_accesses", sum.home_accesses, {}, "", "to shared memory at the warp's home");
  v.field("loads_moved", sum.loads_out, {}, "", "loads under way that left as descriptors");
  v.field("lines_moved", sum.lines_out, {}, "", "lines that they waited for");
  v.field("orphans", sum.unclaimed, {}, "lines", "that came although nobody waited any more");
  v.field("withdrawn", sum.cancelled, {}, "requests", "that had not left and never did");
}

void MigrationUnit::describe(std::string& out) const {
  if (idle()) return;
  out +=
      "migration: " + std::to_string(on_their_way_) + " contexts and messages are on their way\n";
}

std::vector<std::string> MigrationUnit::audit() const {
  RADDLE_ASSERT(idle());
  std::vector<std::string> broken;
  const auto equal = [&](const char* what, std::uint64_t a, std::uint64_t b) {
    if (a != b)
      broken.push_back(std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
  };
  std::uint64_t out = 0, in = 0;
  for (const auto& sm : sms_) {
    out += sm->counters().warps_out;
    in += sm->counters().warps_in;
  }
  equal("warps that left an SM, and that came to one", out, in);
  equal("contexts that were sent, and warps that left", count_.contexts, out);
  std::uint64_t moves = 0;
  for (const auto& [from_to, warps] : moves_) moves += warps;
  equal("contexts that were sent, and those from one SM to another", count_.contexts, moves);
  TransferCounters sent, taken;
  for (const auto& sender : senders_) stats::accumulate<TransferCounters>(sent, sender->counters());
  for (const auto& receiver : receivers_)
    stats::accumulate<TransferCounters>(taken, receiver.counters());
  equal("transfers that were sent, and that arrived", sent.transfers, taken.transfers);
  equal("segments that were sent, and that arrived", sent.segments, taken.segments);
  equal("bytes that were sent, and that arrived", sent.bytes, taken.bytes);
  if (!senders_.empty()) {
    equal("bytes of contexts and messages, and those sent",
          count_.context_bytes + count_.message_bytes, sent.bytes);
    equal("contexts and messages, and transfers", count_.contexts + count_.messages,
          sent.transfers);
  }
  return broken;
}

}  // namespace raddle::timing
