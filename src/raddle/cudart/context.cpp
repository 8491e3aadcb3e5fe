#include "raddle/cudart/context.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/cudart/array.h"
#include "raddle/cudart/capture.h"
#include "raddle/cudart/errors.h"
#include "raddle/cudart/image.h"
#include "raddle/cudart/reset.h"
#include "raddle/report/report.h"
#include "raddle/report/summary.h"
#include "raddle/report/timeline.h"
#include "raddle/report/words.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/setup/gpus.h"

namespace raddle::cudart {

ThreadState& thread_state() {
  // Left behind: programs call us from exit handlers, which run after the thread's destructors.
  thread_local ThreadState* const state = new ThreadState;
  return *state;
}

Context& context() {
  // Never destroyed: programs call us from their own destructors, until at_end() below.
  static Context* const the = new Context;
  return *the;
}

Context::Context() : process_(getpid()) {
  if (const char* folder = std::getenv(sim::ExecJob::kVariable)) folder_ = folder;
}
Context::~Context() = default;

bool Context::forked() const { return session_ != nullptr && getpid() != process_; }

// --- the device ---------------------------------------------------------------------------------

sim::Session& Context::session() {
  if (session_ == nullptr && !refused_) {
    try {
      start();
    } catch (const std::exception& error) {
      refused_ = Failure{kNoDevice};
      fail(plain_words(error));
    }
  }
  if (refused_) throw *refused_;
  RADDLE_ASSERT(session_ != nullptr);
  return *session_;
}

void Context::start() {
  if (folder_.empty())
    throw InputError("this CUDA runtime simulates a GPU; start the program with: raddle exec -- " +
                     std::string(program_invocation_short_name));
  job_ = sim::ExecJob::read(folder_);
  process_ = getpid();
  sim::SessionOptions options;
  options.unified_addresses = true;
  options.record = job_.record;
  options.input_hash = job_.input_hash;
  options.run.functional = job_.functional;
  options.run.skip = job_.skip;
  options.run.threads = job_.threads;
  options.run.max_cycles = job_.max_cycles;
  options.run.max_warp_instructions = job_.max_warp_instructions;
  options.run.max_stream_bytes = job_.max_stream_bytes;
  options.run.first_launches = job_.first_launches;
  options.run.sample_interval = job_.sample_interval;
  options.run.print = [to = job_.print_to_stderr ? stderr : stdout](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), to);
  };
  watch = RunWatch(job_.quiet);
  options.run.progress = [this](const sim::Progress& progress) {
    stop_when_ending();
    watch.see(progress);
  };
  options.run.out_of_bounds = job_.out_of_bounds_mode();
  options.run.checks = exec::check_options(job_.checks);
  options.run.note = [](const std::string& text) {
    std::fputs(fmt::format("raddle: {}\n", text).c_str(), stderr);
  };
  sim::Setup setup =
      sim::read_setup(sim::load_gpu(sim::ExecJob::config_file(folder_)), policy::all_policies());
  if (job_.report && !job_.functional && setup.run.sampling_error == 0)
    options.run.analyses = sim::analyses_for_report(false);
  auto session = std::make_unique<sim::Session>(
      sim::WorkloadInfo{job_.name, {{"arguments", job_.arguments}}}, std::move(setup), options);
  const std::string started = sim::ExecOutcome::file(folder_, process_, "started");
  // Another program was here before, and has put this one in its place.
  if (std::filesystem::exists(started))
    write_file(sim::ExecOutcome::file(folder_, process_, "replaced"), "");
  write_file(started, "");  // fails where `raddle exec` has ended before
  session_ = std::move(session);
}

// --- code ---------------------------------------------------------------------------------------

runtime::ModuleId Context::load(Module& module) {
  if (module.id) return *module.id;
  if (module.refused) throw *module.refused;
  RADDLE_ASSERT(module.wrapper != nullptr);
  try {
    Image image = image_of(module.wrapper, seen(), job_.name);
    module.id = device().load(std::move(image.sources), image.registers);
    keep_initial(*this, module);
  } catch (const Failure& failure) {
    module.refused = failure;
  } catch (const InputError& error) {
    module.refused = Failure{kInvalidPtx, error.what()};
  }
  if (module.refused) {
    if (!module.refused->message.empty()) fail(module.refused->message);  // else told before
    module.refused->message.clear();
    throw *module.refused;
  }
  RADDLE_ASSERT(module.id.has_value());
  for (const auto& [host, variable] : module.variables)
    if (variable.managed != nullptr)
      *variable.managed = reinterpret_cast<void*>(device().symbol(*module.id, variable.name));
  return *module.id;
}

bool Context::is_managed_variable(Address address) const {
  return std::ranges::any_of(variable_owner, [&](const auto& entry) {
    const Variable& variable = entry.second->variables.at(entry.first);
    if (variable.managed == nullptr) return false;
    const auto begin = reinterpret_cast<Address>(*variable.managed);
    return address >= begin && address - begin < variable.bytes;
  });
}

Kernel& Context::kernel(const void* function) {
  if (kernels.has(function)) {
    Kernel& known = kernels.get(function);
    if (known.module->unloaded) throw Failure{kInvalidResourceHandle, known.name + " is unloaded"};
    return known;
  }
  const auto found = kernels_by_stub.find(function);
  if (found == kernels_by_stub.end()) throw Failure{kInvalidDeviceFunction};
  RADDLE_ASSERT(found->second != nullptr);
  return *found->second;
}

runtime::KernelId Context::loaded(Kernel& kernel) {
  RADDLE_ASSERT(kernel.module != nullptr && modules.has(kernel.module));
  const runtime::ModuleId module = load(*kernel.module);
  if (!kernel.id) {
    try {
      kernel.id = device().kernel(module, kernel.name);
    } catch (const InputError& error) {
      fail(error.what());
      throw Failure{kUnsupportedPtxVersion};
    }
  }
  return *kernel.id;
}

Context::Symbol Context::symbol(const void* host_variable) {
  const auto owner = variable_owner.find(host_variable);
  if (owner == variable_owner.end()) throw Failure{kInvalidSymbol};
  Module& module = *owner->second;
  RADDLE_ASSERT(module.variables.contains(host_variable));
  const runtime::ModuleId id = load(module);
  const Variable& variable = module.variables.at(host_variable);
  return {device().symbol(id, variable.name), variable.bytes};
}

// --- streams ------------------------------------------------------------------------------------

Stream& Context::stream(Stream* stream) {
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  ThreadState& thread = thread_state();
  if (value == kLegacyStream || (value == 0 && !thread.per_thread)) return legacy_;
  if (value == kPerThreadStream || value == 0) {
    if (thread.stream == nullptr || thread.stream_resets != resets) {
      thread.stream = streams.make(device().create_stream());
      thread.stream_resets = resets;
    }
    return *thread.stream;
  }
  return streams.get(stream);
}

void Context::enqueue(Stream& stream, NodeType type, Work work) {
  RADDLE_ASSERT(work != nullptr);
  if (stream.capture != nullptr) captured(stream, type).work = std::move(work);
  else work(*this, stream.id);
}

// --- memory -------------------------------------------------------------------------------------

Address Context::allocate(std::size_t bytes, Allocation::Kind kind, unsigned flags) {
  const Address at = device().allocate(bytes);
  if (kind == Allocation::Kind::Host || kind == Allocation::Kind::Managed)
    device().host_may_write(at, bytes);
  RADDLE_ASSERT(at != 0 && !allocations.contains(at));
  allocations[at] = {.bytes = bytes, .kind = kind, .flags = flags};
  return at;
}

const std::pair<const Address, Allocation>* Context::allocation(Address address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  const auto& found = *std::prev(after);
  return address - found.first < std::max<std::size_t>(found.second.bytes, 1) ? &found : nullptr;
}

// --- what went wrong, and the end ---------------------------------------------------------------

void Context::note(std::string_view call, std::string_view why) {
  std::fputs(fmt::format("raddle: {}: {}\n", call, why).c_str(), stderr);
}

void Context::fail(const std::string& message) {
  std::fputs(fmt::format("raddle: {}\n", message).c_str(), stderr);
  outcome_.failures.push_back(message);
}

void Context::unsupported(const std::string& what, const char* code) {
  const std::string message = fmt::format("{} is not supported ({})", what, code);
  for (const std::string& notified : outcome_.failures)
    if (notified == message) return;
  fail(message);
}

void Context::refuse_unsupported(const std::string& what, const char* code) {
  unsupported(what, code);
  throw Failure{kNotSupported};
}

void Context::comes(std::string_view call) {
  ++calls_;
  const auto names = [&](std::string_view part) { return call.find(part) != call.npos; };
  const bool copies = (names("Memcpy") || names("Memset")) && !names("Async");
  if (!several_launchers_ || !(names("Synchronize") || names("Query") || names("Free") || copies))
    return;
  constexpr std::chrono::microseconds kQuiet{200};
  constexpr int kMaxPauses = 25;
  std::uint64_t seen = calls_;
  for (int n = 0; n < kMaxPauses; ++n) {
    std::this_thread::sleep_for(kQuiet);
    if (seen == calls_) return;
    seen = calls_;
  }
}

/// A host thread that waits runs simulated time on, and what another launches after that comes
/// later: which comes first is the operating system's choice.
void Context::launched() {
  const std::thread::id here = std::this_thread::get_id();
  if (launches_++ == 0) launcher_ = here;
  if (launcher_ == here || several_launchers_ || !timed()) return;
  several_launchers_ = true;
  std::fputs(
      "raddle: several host threads launch kernels: what overlaps and how long it takes depends on "
      "which comes first, and differs from run to run\n",
      stderr);
}

void Context::launch_refused(Error code) {
  if (refused_launches_++ == 0) first_refused_ = code;
}

void Context::driver_wanted(const std::string& library, const std::string& function) {
  const std::string what = library + (function.empty() ? "" : " (" + function + ")");
  if (std::ranges::count(outcome_.machine_code, what) != 0) return;
  outcome_.machine_code.push_back(what);
  // A program that goes on with the handle that it did not get may not live to its end.
  if (!folder_.empty() && getpid() == process_) outcome_.write(folder_, process_);
}

/// Of a run without a launch: what a user may want to know.
std::string Context::why_nothing() const {
  if (refused_launches_ == 0)
    return "the program asked for nothing else, or its kernels are in a library of machine code";
  return fmt::format("{} {} refused, {}with {}", refused_launches_,
                     refused_launches_ == 1 ? "launch was" : "launches were",
                     refused_launches_ == 1 ? "" : "the first ", error_name(first_refused_));
}

/// How often kernels left their allocations, of which the first time was told when it happened.
void Context::notify_strays() {
  if (session_ == nullptr || job_.out_of_bounds_mode() != exec::OutOfBounds::Page) return;
  for (const auto& [kernel, times] : device().machine().stray_accesses())
    std::fputs(fmt::format("raddle: kernel {}: {} {} outside of allocations in all; "
                           "--out-of-bounds=fault stops at the first\n",
                           short_name(kernel), times, times == 1 ? "access" : "accesses")
                   .c_str(),
               stderr);
}

void Context::write_result() {
  const sim::Result result = session_->finish();
  watch.clear();
  const auto write = [&](const char* what, const std::string& text) {
    write_file(sim::ExecOutcome::file(folder_, process_, what), text);
  };
  write("result", json_dump(sim::to_json(result, job_.single_launches), 2));
  const std::vector<report::Run> runs = {{report::policy_label(result), &result}};
  if (job_.report)
    write("report", report::html({job_.command, job_.date, runs, job_.single_launches}));
  if (job_.timeline) {
    const report::Timeline timeline = report::timeline(
        runs, job_.timeline_events == 0 ? report::kMaxTimelineEvents : job_.timeline_events);
    write("timeline", timeline.text);
    for (const std::string& what : timeline.left_out)
      if (!job_.quiet)
        std::fputs(fmt::format("raddle: timeline (--timeline-events): {}\n", what).c_str(), stderr);
  }
  outcome_.summary = report::summary(result);
  if (const std::string refused = report::refused_launches(result); !refused.empty())
    std::fputs(fmt::format("raddle: {}\n", refused).c_str(), stderr);
  outcome_.has_result = true;
  if (result.checks && !result.checks->findings.empty()) fail(result.checks->failure());
}

/// Another thread is in a call of ours, and the process takes itself apart. A short call comes to
/// its end; in a long one the thread stops where it next tells how far the simulation has come.
void Context::await_other_thread(std::unique_lock<std::recursive_mutex>& lock) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kShort{200}, kPatience{2000}, kPause{1};
  const Clock::time_point begin = Clock::now();
  while (!stopped_ && !lock.try_lock() && Clock::now() - begin < kPatience) {
    ending_ = Clock::now() - begin > kShort;
    std::this_thread::sleep_for(kPause);
  }
  if (lock.owns_lock()) ending_ = false;
  const std::string what = "the program ended while one of its threads was still using the GPU";
  if (!lock.owns_lock()) fail(what + "; there is no result");
  else if (session_ != nullptr)
    std::fputs(
        fmt::format("raddle: {}; the result is of what was asked for until then\n", what).c_str(),
        stderr);
}

void Context::stop_when_ending() {
  if (!ending_) return;
  stopped_ = true;
  for (;;) pause();  // signals end it
}

void Context::finish() {
  if (folder_.empty() || getpid() != process_) return;
  std::unique_lock lock(mutex, std::try_to_lock);
  ended = true;
  if (!lock.owns_lock()) await_other_thread(lock);
  const bool alone = lock.owns_lock();
  if (alone) {
    if (session_ == nullptr && outcome_.failures.empty() && outcome_.machine_code.empty())
      return;  // no device was asked for
    notify_strays();
    if (launches_ == 0) outcome_.nothing_launched = why_nothing();
  }
  const HeldSignals held;
  try {
    if (alone && session_ != nullptr && sticky == kSuccess) {
      write_result();
    } else if (alone && session_ != nullptr) {
      if (const std::string found = session_->found(); !found.empty())
        fail("a fault ended the run" + found);
    }
  } catch (const std::exception& error) {
    fail(plain_words(error));
  }
  try {
    outcome_.write(folder_, process_);
  } catch (const std::exception& error) {
    std::fputs(fmt::format("raddle: {}\n", error.what()).c_str(), stderr);
  }
}

namespace {
/// After the program's own exit handlers and destructors: they may still use the device.
[[gnu::destructor]] void at_end() { context().finish(); }
}  // namespace

}  // namespace raddle::cudart
