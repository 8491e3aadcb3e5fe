// Assembly of the machine: SMs, two networks, memory partitions and the block dispatcher around
// the window engine.
#define XXH_INLINE_ALL
#include "raddle/timing/gpu/gpu.h"

#include <xxhash.h>

#include <algorithm>

#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/gpu/engine.h"
#include "raddle/timing/gpu/sampler.h"
#include "raddle/timing/gpu/sum_fields.h"
#include "raddle/timing/mem/partition.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/sm/sm.h"

namespace raddle::timing {

namespace {
const MachineSpec& checked(const MachineSpec& machine) {
  std::vector<Diagnostic> broken;
  for (std::string& rule : machine.violations()) broken.push_back({{}, std::move(rule)});
  if (!broken.empty()) throw InputError(std::move(broken));
  return machine;
}
}  // namespace

class Gpu::Impl {
 public:
  Impl(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  void run(trace::KernelStream& stream, const LaunchInfo& info);
  Cycle now() const { return now_; }
  stats::GpuCounters counters() const { return counters(now_); }
  std::uint64_t hash() const;
  std::vector<std::string> audit() const;
  const Network& request() const { return *request_; }
  const Network& reply() const { return *reply_; }
  void visit_policy_statistics(std::string_view level, FieldVisitor& v);
  const std::vector<BlockSpan>& block_spans() const { return dispatcher_.spans(); }
  const std::vector<Sample>& samples() const { return sampler_.samples(); }

 private:
  Cycle window() const {
    return std::min(machine_.noc.latency_cycles, machine_.dispatch_latency_cycles);
  }
  void wire_sm(unsigned i);
  void wire_partition(unsigned i);
  void before_window(Cycle begin, const trace::KernelCode& code);
  Cycle last_progress(Cycle now) const;
  [[noreturn]] void give_up(Cycle now, const std::string& what) const;
  stats::GpuCounters counters(Cycle at) const;

  MachineSpec machine_;
  GpuOptions options_;
  AddressMap map_;
  std::unique_ptr<Network> request_, reply_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  Engine engine_;
  Sampler sampler_;
  Cycle now_ = 0;         // end of the last launch
  Cycle watch_next_ = 0;  // when the watchdog could bite at the earliest
  std::uint64_t launches_ = 0;
};

Gpu::Impl::Impl(const MachineSpec& machine, const PolicyChoices& policies,
                const GpuOptions& options)
    : machine_(checked(machine)),
      options_(options),
      map_(machine_),
      request_(make_network(machine_, Direction::Request, map_)),
      reply_(make_network(machine_, Direction::Reply, map_)),
      dispatcher_(machine_, *policies.block, options.seed),
      engine_(window(), options.skip, options.shuffle),
      sampler_(options.sample_interval, window()) {
  for (unsigned i = 0; i < machine_.sm.count; ++i) {
    sms_.push_back(std::make_unique<Sm>(machine_, i, *policies.warp, options.seed));
    wire_sm(i);
  }
  for (unsigned i = 0; i < machine_.dram.channels; ++i) {
    auto policy = policies.dram->make({i, machine_.dram.banks, options.seed});
    partitions_.push_back(std::make_unique<Partition>(machine_, map_, i, std::move(policy)));
    wire_partition(i);
  }
  // The networks first: they are the longest tasks of a window.
  request_->add_to(engine_);
  reply_->add_to(engine_);
  engine_.add(dispatcher_);
  for (auto& sm : sms_) engine_.add(*sm);
  for (auto& p : partitions_) engine_.add(*p);
  for (Mailbox* box : {&request_->box(), &request_->credit_box(), &reply_->box(),
                       &reply_->credit_box(), &dispatcher_.box()})
    box->set_shared(options.threads > 1);
}

void Gpu::Impl::wire_sm(unsigned i) {
  Sm& sm = *sms_[i];
  sm.set_skip(options_.skip);
  request_->connect_input(i, sm.ports().to_noc, sm.ports().credit_in);
  sm.ports().noc_box = &request_->box();
  reply_->connect_output(i, sm.ports().from_noc, nullptr);
  dispatcher_.connect(i, sm.block_in(), sm.block_out());
  sm.connect_dispatcher(dispatcher_.box());
}

void Gpu::Impl::wire_partition(unsigned i) {
  Partition& p = *partitions_[i];
  p.set_skip(options_.skip);
  for (unsigned place = 0; place < p.slices(); ++place) {
    SlicePorts& ports = p.ports(place);
    unsigned slice = i * p.slices() + place;
    request_->connect_output(slice, ports.from_noc, &ports.credit_out);
    ports.noc_credit_box = &request_->credit_box();
    reply_->connect_input(slice, ports.to_noc, ports.credit_in);
    ports.noc_box = &reply_->box();
  }
}

void Gpu::Impl::run(trace::KernelStream& stream, const LaunchInfo& info) {
  const trace::KernelCode& code = stream.code();
  const trace::LaunchShape& shape = stream.shape();
  if (Residency fit = residency(machine_.sm, code, shape); fit.blocks == 0)
    throw InputError(fit.reason);
  if (shape.grid.count() == 0 || shape.block.count() == 0 ||
      shape.grid.count() >= ~std::uint32_t{0})
    throw InputError("kernel '" + code.name + "' is launched with " +
                     std::to_string(shape.grid.count()) + " blocks of " +
                     std::to_string(shape.block.count()) + " threads");

  trace::LoweredCode lowered = trace::as_it_is(code);
  DecodedKernel decoded(lowered, machine_.sm);
  Launch launch{&stream, &decoded, launches_,
                static_cast<std::uint8_t>(launches_ % stats::kKernelSlots)};
  ++launches_;
  Cycle start = std::max(now_ + machine_.launch_latency_cycles, engine_.end());
  policy::BlockLaunch view{info.sequence, info.name, shape.grid,
                           static_cast<std::uint32_t>(shape.grid.count())};
  dispatcher_.launch(start, launch, view, block_needs(machine_.sm, code, shape));
  watch_next_ = 0;

  bool ended = engine_.run(
      stream.concurrent() ? options_.threads : 1, [&] { return !dispatcher_.busy(); },
      [&](Cycle begin) { before_window(begin, code); });
  if (!ended) give_up(engine_.end(), "nothing can move any more");
  now_ = dispatcher_.finished();
  sampler_.update(counters(now_));
}

void Gpu::Impl::before_window(Cycle begin, const trace::KernelCode& code) {
  if (sampler_.due(begin)) sampler_.advance(begin, counters(begin));
  if (begin >= options_.max_cycles)
    give_up(begin, "kernel '" + code.name + "' has not ended after the " +
                       std::to_string(options_.max_cycles) + " cycles allowed");
  if (begin < watch_next_) return;
  Cycle progress = last_progress(begin);
  if (begin - progress >= options_.watchdog_cycles)
    give_up(begin, "nothing has moved for " + std::to_string(begin - progress) + " cycles");
  watch_next_ = progress + std::min(options_.watchdog_cycles, kNever - progress);
}

Cycle Gpu::Impl::last_progress(Cycle now) const {
  Cycle progress = std::min(now, dispatcher_.started());
  for (const auto& sm : sms_) progress = std::max(progress, sm->last_progress(now));
  return progress;
}

void Gpu::Impl::give_up(Cycle now, const std::string& what) const {
  constexpr unsigned kSmsTold = 4, kWarpsTold = 8;
  std::string out = what + " (cycle " + std::to_string(now) + ")\n";
  unsigned told = 0, busy = 0;
  for (const auto& sm : sms_) {
    if (sm->idle()) continue;
    if (++busy; told < kSmsTold) sm->describe(out, kWarpsTold), ++told;
  }
  if (busy > told) out += "... and " + std::to_string(busy - told) + " more SMs\n";
  dispatcher_.describe(out);
  request_->describe(out);
  reply_->describe(out);
  for (const auto& p : partitions_)
    if (!p->idle()) p->describe(out);
  while (out.back() == '\n') out.pop_back();
  throw RunError(out);
}

stats::GpuCounters Gpu::Impl::counters(Cycle at) const {
  stats::GpuCounters sum;
  for (const auto& sm : sms_) {
    stats::accumulate(sum.sm, sm->counters(at));
    stats::accumulate(sum.scheduler, sm->scheduler_counters(at));
  }
  sum.request = request_->counters(), sum.reply = reply_->counters();
  for (const auto& p : partitions_) {
    stats::accumulate(sum.l2, p->l2_counters());
    stats::accumulate(sum.dram, p->dram_counters());
  }
  return sum;
}

std::uint64_t Gpu::Impl::hash() const {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  auto add = [&](const auto& counters) { XXH64_update(&state, &counters, sizeof counters); };
  add(now_);
  for (const auto& sm : sms_) add(sm->counters(now_)), add(sm->scheduler_counters(now_));
  for (const Network* network : {request_.get(), reply_.get()}) {
    add(network->counters());
    for (const stats::NocPort& port : network->ports()) add(port);
  }
  for (const auto& p : partitions_) {
    for (unsigned i = 0; i < p->slices(); ++i) add(p->slice(i).counters());
    add(p->dram_counters());
  }
  return XXH64_digest(&state);
}

std::vector<std::string> Gpu::Impl::audit() const {
  std::vector<std::string> broken = request_->audit();
  for (std::string& law : reply_->audit()) broken.push_back(std::move(law));
  return broken;
}

void Gpu::Impl::visit_policy_statistics(std::string_view level, FieldVisitor& v) {
  SumFields sum;
  if (level == policy::WarpPolicy::kLevel) {
    for (auto& sm : sms_)
      for (unsigned s = 0; s < machine_.sm.schedulers; ++s) sum.add(sm->policy(s));
  } else if (level == policy::BlockPolicy::kLevel) {
    sum.add(dispatcher_.policy());
  } else if (level == policy::DramPolicy::kLevel) {
    for (auto& p : partitions_) sum.add(p->dram().policy());
  } else {
    throw InputError("no policy level is called '" + std::string(level) +
                     "'; known: warp block dram");
  }
  sum.tell(v);
}

Gpu::Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options)
    : impl_(std::make_unique<Impl>(machine, policies, options)) {}
Gpu::~Gpu() = default;
void Gpu::run(trace::KernelStream& stream, const LaunchInfo& info) { impl_->run(stream, info); }
Cycle Gpu::now() const { return impl_->now(); }
stats::GpuCounters Gpu::counters() const { return impl_->counters(); }
std::uint64_t Gpu::hash() const { return impl_->hash(); }
std::vector<stats::NocPort> Gpu::request_ports() const { return impl_->request().ports(); }
std::vector<stats::NocPort> Gpu::reply_ports() const { return impl_->reply().ports(); }
std::vector<std::string> Gpu::audit() const { return impl_->audit(); }
void Gpu::visit_policy_statistics(std::string_view level, FieldVisitor& v) {
  impl_->visit_policy_statistics(level, v);
}
const std::vector<BlockSpan>& Gpu::block_spans() const { return impl_->block_spans(); }
const std::vector<Sample>& Gpu::samples() const { return impl_->samples(); }

}  // namespace raddle::timing
