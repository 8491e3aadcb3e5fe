// A mesh put together, and looked at from outside: links, places, conservation.
#include <algorithm>
#include <bit>
#include <string>

#include "raddle/timing/noc/mesh.h"
#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

namespace {
constexpr unsigned kOpposite[] = {kWest, kEast, kNorth, kSouth};
constexpr std::uint32_t kUnlimited = 1u << 30;

/// Number of each of these endpoints among those at its node of the mesh, and the largest such
/// number plus one.
std::pair<std::vector<unsigned>, unsigned> numbers_at(const std::vector<NodeId>& endpoints,
                                                      const MeshShape& mesh) {
  std::vector<unsigned> used(mesh.columns * mesh.rows);
  std::vector<unsigned> number;
  unsigned maximum = 0;
  for (NodeId endpoint : endpoints) {
    const unsigned node = mesh.place[static_cast<unsigned>(endpoint)];
    number.push_back(used[node]++);
    maximum = std::max(maximum, used[node]);
  }
  return {number, maximum};
}

/// Nodes of the machine file, of which the first `count` count.
std::vector<std::uint16_t> first_nodes(const std::string& text, unsigned nodes, unsigned count) {
  auto list = read_nodes(text, nodes, count);
  RADDLE_ASSERT(list && list->size() >= count);
  list->resize(count);
  return *std::move(list);
}
}  // namespace

MeshShape mesh_shape(const MeshSpec& mesh, const Endpoints& endpoints) {
  const unsigned nodes = mesh.columns * mesh.rows;
  std::vector<std::uint16_t> place = first_nodes(mesh.sm_nodes, nodes, endpoints.sms);
  const auto slices = first_nodes(mesh.slice_nodes, nodes, endpoints.slices);
  place.insert(place.end(), slices.begin(), slices.end());
  if (mesh.memory_nodes.empty()) {  // at the first of their slices
    const unsigned per_channel = endpoints.slices / endpoints.controllers;
    for (unsigned i = 0; i < endpoints.controllers; ++i) place.push_back(slices[i * per_channel]);
  } else {
    const auto controllers = first_nodes(mesh.memory_nodes, nodes, endpoints.controllers);
    place.insert(place.end(), controllers.begin(), controllers.end());
  }
  return {.columns = mesh.columns,
          .rows = mesh.rows,
          .router = mesh.router_cycles,
          .channel = mesh.channel_cycles,
          .channels = mesh.virtual_channels,
          .depth = mesh.vc_flits,
          .place = std::move(place)};
}

Mesh::Mesh(const NetworkShape& shape, const MeshShape& mesh)
    : Network(shape),
      mesh_(mesh),
      nodes_(mesh.columns * mesh.rows),
      ring_(std::bit_ceil(mesh.depth)),
      sender_(senders()),
      receiver_(receivers()),
      credits_(kCreditSlots),
      active_(nodes_),
      routing_(nodes_),
      inject_(senders()),
      injecting_(senders()) {
  RADDLE_ASSERT(nodes_ >= 1 && nodes_ <= kMaxMeshNodes);
  RADDLE_ASSERT(mesh.columns <= kMaxMeshSide && mesh.rows <= kMaxMeshSide);
  for (unsigned i = 0; i < 64; ++i) inject_wheel_.emplace_back(senders());
  RADDLE_ASSERT(mesh.router >= 1 && mesh.router <= 16 && mesh.channel >= 1 && mesh.channel <= 8);
  RADDLE_ASSERT(mesh.place.size() == shape.nodes);
  std::fill(std::begin(wheel_), std::end(wheel_), kNone);
  build_links();
  // Each packet inside is being sent or has a flit in some FIFO.
  packet_.resize(vc_.size() * mesh_.depth + sender_.size());
  for (std::uint32_t i = static_cast<std::uint32_t>(packet_.size()); i-- > 0;) {
    free_packets_.push_back(i);
  }
}

void Mesh::build_links() {
  const auto [sender_number, senders] = numbers_at(shape_.wiring.senders, mesh_);
  const auto [receiver_number, receivers] = numbers_at(shape_.wiring.receivers, mesh_);
  inputs_ = kDirections + senders;
  outputs_ = kDirections + receivers;
  vcs_of_router_ = inputs_ * mesh_.channels;
  RADDLE_ASSERT(vcs_of_router_ <= 64 && outputs_ <= 32);
  router_.resize(nodes_);
  output_.resize(nodes_ * outputs_);
  out_vc_.resize(output_.size() * mesh_.channels, {kUnlimited, kNone});
  vc_.resize(nodes_ * vcs_of_router_);
  flit_.resize(vc_.size() * ring_);
  in_turn_.resize(nodes_ * inputs_, 0);
  for (Output& out : output_) out.free = static_cast<std::uint8_t>(low_bits(mesh_.channels));
  for (Credits& credits : credits_) credits.out_vc.resize(nodes_ * kDirections);
  for (unsigned node = 0; node < nodes_; ++node) {
    x_.push_back(static_cast<std::uint8_t>(node % mesh_.columns));
    y_.push_back(static_cast<std::uint8_t>(node / mesh_.columns));
    for (unsigned bit = 0; bit < vcs_of_router_; ++bit) {
      Vc& vc = vc_[node * vcs_of_router_ + bit];
      vc.node = static_cast<std::uint16_t>(node);
      vc.bit = static_cast<std::uint8_t>(bit);
      vc.port = static_cast<std::uint8_t>(bit / mesh_.channels);
      vc.number = static_cast<std::uint8_t>(bit % mesh_.channels);
      vc.in_port = node * inputs_ + vc.port;
    }
    const auto to = next_to(node, mesh_.columns, mesh_.rows);
    for (unsigned direction = 0; direction < kDirections; ++direction) {
      if (to[direction] == kNoNode) continue;
      unsigned port = to[direction] * inputs_ + kOpposite[direction],
               out = node * outputs_ + direction;
      output_[out].down = port * mesh_.channels;
      for (unsigned channel = 0; channel < mesh_.channels; ++channel) {
        vc_[port * mesh_.channels + channel].up = out * mesh_.channels + channel;
        out_vc_[out * mesh_.channels + channel].credits = mesh_.depth;
      }
    }
  }
  for (unsigned sender = 0; sender < sender_.size(); ++sender) {
    const unsigned node = mesh_.place[static_cast<unsigned>(shape_.wiring.senders[sender])];
    const unsigned port = node * inputs_ + kDirections + sender_number[sender];
    sender_[sender].node = static_cast<std::uint16_t>(node);
    sender_[sender].vcs = port * mesh_.channels;
    for (unsigned channel = 0; channel < mesh_.channels; ++channel)
      vc_[port * mesh_.channels + channel].up = sender;
  }
  for (unsigned receiver = 0; receiver < receiver_.size(); ++receiver) {
    const unsigned node = mesh_.place[static_cast<unsigned>(shape_.wiring.receivers[receiver])];
    const unsigned output = kDirections + receiver_number[receiver];
    receiver_[receiver].node = static_cast<std::uint16_t>(node);
    receiver_[receiver].output = static_cast<std::uint8_t>(output);
    output_[node * outputs_ + output].receiver = receiver;
  }
}

void Mesh::attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) {
  sender_[sender].link = &in;
  sender_[sender].credit = &credit_out;
}

void Mesh::attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) {
  receiver_[receiver].link = &out;
  receiver_[receiver].credit = credit_in;
  receiver_[receiver].credits = shape_.credits;
}

void Mesh::add_to(Engine& engine) { engine.add(*this); }

void Mesh::describe(std::string& out) const {
  out += std::string(direction()) + " mesh: " + std::to_string(packets_inside_) + " packets inside";
  constexpr unsigned kMaxDescribed = 8;
  unsigned described = 0;
  for (unsigned v = 0; v < vc_.size() && described < kMaxDescribed; ++v) {
    const Vc& vc = vc_[v];
    if (vc.packet == kNone || (vc.out_vc != kNone && !vc.starved)) continue;
    out += "; node " + std::to_string(vc.node) + " input " + std::to_string(vc.port) + " channel " +
           std::to_string(vc.number) + " waits for a " +
           (vc.out_vc == kNone ? "channel" : "credit") + " of output " + std::to_string(vc.output);
    ++described;
  }
  out += "\n";
}

std::vector<stats::NocPort> Mesh::ports() const {
  std::vector<stats::NocPort> all;
  for (const Output& out : output_)
    if (out.down != kNone || out.receiver != kNone) all.push_back(out.count);
  return all;
}

std::vector<std::uint64_t> Mesh::link_flits() const {
  std::vector<std::uint64_t> flits;
  for (const Output& out : output_)
    if (out.down != kNone) flits.push_back(out.count.flits);
  return flits;
}

std::vector<std::string> Mesh::audit() const {
  std::vector<std::string> broken;
  std::string name = std::string(direction()) + " mesh: ";
  stats::NocCounters all = counters();
  if (taken_ != all.packets + packets_inside_)
    broken.push_back(name + std::to_string(taken_) + " packets came in, " +
                     std::to_string(all.packets) + " went out, " + std::to_string(packets_inside_) +
                     " are inside");
  std::uint64_t hops = 0, out = 0;
  for (const Output& o : output_) (o.receiver == kNone ? hops : out) += o.count.flits;
  if (packets_inside_ == 0 && (hops != all.flit_hops || out != all.flits))
    broken.push_back(name + "its links moved " + std::to_string(hops) + " and " +
                     std::to_string(out) + " flits, its packets have " +
                     std::to_string(all.flit_hops) + " and " + std::to_string(all.flits));
  audit_credits(broken);
  return broken;
}

/// Credits at the sending end + flits at the receiving end + credits under way = places.
void Mesh::audit_credits(std::vector<std::string>& broken) const {
  std::vector<unsigned> places(out_vc_.size());
  for (const Credits& credits : credits_)
    for (unsigned i = 0; i < credits.size; ++i) ++places[credits.out_vc[i]];
  for (unsigned o = 0; o < output_.size(); ++o) {
    if (output_[o].down == kNone) continue;
    for (unsigned c = 0; c < mesh_.channels; ++c) {
      unsigned at = o * mesh_.channels + c;
      places[at] += out_vc_[at].credits + vc_[output_[o].down + c].size;
      if (places[at] != mesh_.depth)
        broken.push_back(std::string(direction()) + " mesh: channel " + std::to_string(c) +
                         " of output " + std::to_string(o % outputs_) + " at node " +
                         std::to_string(o / outputs_) + " accounts for " +
                         std::to_string(places[at]) + " of " + std::to_string(mesh_.depth) +
                         " places");
    }
  }
}

}  // namespace raddle::timing
