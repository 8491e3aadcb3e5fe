#include "raddle/timing/gpu/launches.h"

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/timing/gpu/residency.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

std::uint64_t warp_instructions_of(const std::vector<Submission>& tree) {
  std::uint64_t sum = 0;
  for (const Submission& launch : tree) sum += launch.info.warp_instructions;
  return sum;
}

void Launches::check(const trace::KernelCode& code, const trace::LaunchShape& shape) const {
  if (Residency fit = residency(spec_.sm, code, shape); fit.blocks == 0)
    throw InputError(fit.reason);
  if (shape.grid.count() == 0 || shape.block.count() == 0 ||
      shape.grid.count() >= ~std::uint32_t{0})
    throw InputError("kernel '" + short_name(code.name) + "' is launched with " +
                     std::to_string(shape.grid.count()) + " blocks of " +
                     std::to_string(shape.block.count()) + " threads");
}

void Launches::enqueue(Host host, std::vector<Submission> tree) {
  RADDLE_ASSERT(!tree.empty() && index(host.tenant) < kMaxTenants);
  for (Submission& launch : tree) {
    check(launch.code->code, launch.stream->shape());
    launch.info.tenant = host.tenant;
    RADDLE_ASSERT(launch.info.base % trace::kLineBytes == 0 && launch.info.base < kLocalBase);
  }
  const std::uint64_t warp_instructions = warp_instructions_of(tree);
  const auto job = static_cast<std::uint32_t>(first_job_ + jobs_.size());
  const StreamId in = tree.front().info.stream;
  ++pending_;
  pending_instructions_ += warp_instructions;
  if (tree.size() > 1) {
    std::vector<trace::DeviceOrigin> origins;
    for (Submission& launch : tree) origins.push_back(std::move(launch.origin));
    trees_.add(job, origins);
    roots_[job] = {.info = tree.front().info, .warp_instructions = warp_instructions};
  }
  for (Submission& launch : tree) {
    if (!launch.stream->concurrent()) ++serial_;
    ++by_tenant_[index(launch.info.tenant)];
    jobs_.push_back({.stream = std::move(launch.stream),
                     .code = codes_.find(std::move(launch.code)),
                     .info = std::move(launch.info)});
  }
  manager_.launch(in, job, host.now, host.tenant);
  changed_ = true;
}

Milestone Launches::record(Host host, StreamId stream) {
  changed_ = true;
  return manager_.record(stream, host.now, host.tenant);
}

void Launches::wait(Host host, StreamId stream, Milestone mark) {
  changed_ = true;
  manager_.wait(stream, mark, host.now, host.tenant);
}

void Launches::ended(std::uint32_t number, Cycle at) {
  RADDLE_ASSERT(job_of(number).stream != nullptr);
  Job& job = jobs_[number - first_job_];
  if (!job.stream->concurrent()) --serial_;
  --by_tenant_[index(job.info.tenant)];
  if (trees_.has(number)) trees_.ended(number, at);
  else complete(job.info, job.info.warp_instructions, at);
  job.stream = nullptr;
  job.code = nullptr;
  for (; !jobs_.empty() && jobs_.front().stream == nullptr; ++first_job_) jobs_.pop_front();
  changed_ = true;
}

/// A launch of the host is, with all that descends from it.
void Launches::complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at) {
  RADDLE_ASSERT(pending_ != 0 && pending_instructions_ >= warp_instructions);
  --pending_;
  pending_instructions_ -= warp_instructions;
  manager_.ended(launch.stream, at, launch.tenant);
  completions_.push_back(
      {.tenant = launch.tenant, .stream = launch.stream, .sequence = launch.sequence, .at = at});
}

void Launches::complete_trees() {
  for (const LaunchTrees::Complete& whole : trees_.complete()) {
    const auto root = roots_.find(whole.job);
    complete(root->second.info, root->second.warp_instructions, whole.at);
    roots_.erase(root);
  }
  trees_.complete().clear();
}

const Launches::Job& Launches::job_of(std::uint32_t job) const {
  RADDLE_ASSERT(job >= first_job_ && job - first_job_ < jobs_.size());
  return jobs_[job - first_job_];
}

GridLaunch Launches::grid(std::uint32_t number) const {
  const Job& job = job_of(number);
  const trace::LaunchShape& shape = job.stream->shape();
  GridLaunch launch;
  launch.job = number;
  launch.sequence = job.info.sequence;
  launch.name = job.info.name;
  launch.stream = job.info.stream;
  launch.grid = shape.grid;
  launch.needs = block_needs(spec_.sm, job.code->lowered->code, shape);
  if (spec_.resizes_l1d) {
    const Residency fit = residency(spec_.sm, job.code->lowered->code, shape);
    const std::uint64_t shared = std::uint64_t{fit.blocks} * launch.needs.shared_bytes;
    launch.l1d_ways = static_cast<std::uint16_t>(spec_.sm.l1d.ways_beside(shared));
  }
  launch.ops = job.stream.get();
  launch.code = &job.code->kernel;
  launch.tenant = job.info.tenant;
  launch.first_line = static_cast<std::uint32_t>(job.info.base / spec_.line_bytes);
  if (!trees_.has(number) || roots_.contains(number)) return launch;
  const LaunchTrees::Parent parent = trees_.parent(number);
  // Sequence numbers of a tree are as consecutive as its jobs.
  launch.parent = {.sequence = job.info.sequence - (number - parent.job),
                   .block = parent.block,
                   .sm = parent.sm,
                   .depth = parent.depth};
  return launch;
}

std::uint8_t Launches::present() const {
  unsigned present = 0;
  for (unsigned t = 0; t < kMaxTenants; ++t)
    if (by_tenant_[t] != 0) present |= 1u << t;
  return static_cast<std::uint8_t>(present);
}

}  // namespace raddle::timing
