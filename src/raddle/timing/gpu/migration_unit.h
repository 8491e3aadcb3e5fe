// Carries warps from SM to SM (sm/warp_context.h) as the policy of level "migrate" says. Between
// windows it shows the policy the SMs as they are, takes the warps that leave out of their SMs,
// reserves room for them where they go, and hands over what has arrived. Contexts and messages are
// transfers (wire/transfer.h) through the request network, from the port of one SM to the node of
// another. A warp that ends abroad sends its home a message of a header alone; what it wants of its
// block's barriers and shared memory are messages too (sm/home_call.h).
//
// As a component it takes segments from the network, and makes the clock stop where the policy
// needs it. What it does to SMs and to the dispatcher's account it does between windows, on one
// thread.
//
// Left out: how an SM learns that a neighbour has room. The room is reserved in the cycle in which
// the warp leaves, as if the wires that tell the neighbour's state told that too.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/registry.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/spec/machine.h"
#include "raddle/timing/wire/transfer.h"

namespace raddle::timing {

class MigrationUnit {
 public:
  /// The SMs, the dispatcher and the network must outlive the unit.
  MigrationUnit(const MachineSpec& machine, std::unique_ptr<policy::MigratePolicy> policy,
                std::string name, std::span<const std::unique_ptr<Sm>> sms, Dispatcher& dispatcher,
                Network& network, Cycle window);
  /// What the policy is made with.
  static policy::MigratePolicy::Context context_of(const MachineSpec& machine, std::uint64_t seed);

  // --- component ---------------------------------------------------------------------------------
  void open_window() {}
  Cycle next_arrival(Cycle from) const;
  Cycle tick(Cycle now);

  // --- between windows ---------------------------------------------------------------------------
  /// Before the window that begins at `begin`.
  void act(Cycle begin);

  // --- results -----------------------------------------------------------------------------------
  policy::MigratePolicy& policy() { return *policy_; }
  const policy::MigratePolicy& policy() const { return *policy_; }
  /// How many warps have left which SM for which other.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>& moves() const {
    return moves_;
  }
  /// Cycles before `at` are over.
  void settle(Cycle at) { policy_->settle(at); }
  /// Shows what has come and gone, as statistics of the policy's level.
  static constexpr std::string_view kLevel = policy::MigratePolicy::kLevel;
  void visit_statistics(FieldVisitor& v);
  /// Nothing is on its way.
  bool idle() const { return on_their_way_ == 0; }
  void describe(std::string& out) const;
  /// One sentence for each law of conservation that is broken. Precondition: idle().
  std::vector<std::string> audit() const;

 private:
  class View;
  using Cargo = std::variant<WarpContext, WarpEnded, HomeCall>;
  using Sender = TransferSender<Cargo>;
  struct Arrived {
    std::uint32_t sm;
    Cargo cargo;
  };
  struct Outgoing {
    std::uint32_t from, to, bytes;
    Message whose;
    Cargo cargo;
  };
  struct Counters {
    std::uint64_t contexts = 0, context_bytes = 0, messages = 0, message_bytes = 0;
  };

  void hear(Cycle now);
  void hear(Cycle now, unsigned sm);
  void take_arrivals(Cycle now);
  void import(Cycle now, std::uint32_t sm, const WarpContext& context);
  void look(Cycle now);
  void move(Cycle now, const policy::Migration& m);
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t bytes, Cargo cargo,
            const Launch& launch);
  void send_outgoing(Cycle now);

  std::unique_ptr<policy::MigratePolicy> policy_;
  std::string name_;  // of the policy
  std::vector<WarpMigration*> sms_;
  Dispatcher& dispatcher_;
  Cycle window_;
  MigrationBoard board_;
  std::vector<std::uint32_t> changed_;            // SMs that have ticked since the last look
  std::vector<std::unique_ptr<Sender>> senders_;  // by SM; empty when transfers are free
  std::vector<Sender*> directory_;
  std::vector<TransferReceiver<Cargo>> receivers_;  // by SM
  MessageLink from_noc_;                            // for all SMs
  std::vector<Arrived> arrived_;                    // since the last window began
  std::vector<Outgoing> outgoing_;                  // before the port ...
  std::vector<unsigned> before_port_;               // ... so many of each SM
  std::vector<std::vector<Cycle>> arrived_at_;      // by SM and warp slot: when a warp came
  Cycle due_ = 0, look_at_ = 0;
  std::uint64_t on_their_way_ = 0;  // contexts and messages that have not arrived
  Counters count_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> moves_;
};

}  // namespace raddle::timing
