#include "raddle/cudart/run_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <system_error>

#include "raddle/base/demangle.h"
#include "raddle/report/breakdown.h"

namespace raddle::cudart {

using report::grouped;

namespace {
constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// Those that would end the process now.
sigset_t deadly_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : kEndSignals) {
    struct sigaction now = {};
    if (sigaction(one, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == SIG_DFL)
      sigaddset(&set, one);
  }
  return set;
}
}  // namespace

HeldSignals::HeldSignals() {
  const sigset_t set = deadly_signals();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}
HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

HostFunctionWatch::HostFunctionWatch(const char* call) {
  const auto watch = [this, call] {
    constexpr auto kPatience = std::chrono::seconds(10);
    std::unique_lock lock(mutex_);
    if (!over_.wait_for(lock, kPatience, [this] { return is_over_; }))
      std::fputs(fmt::format("raddle: {}: the host function has run for {} s; here the thread that "
                             "launched it goes on only when it has ended (docs/cuda.md)\n",
                             call, kPatience.count())
                     .c_str(),
                 stderr);
  };
  try {
    thread_ = std::thread(watch);
  } catch (const std::system_error&) {  // no more threads: the function runs unwatched
  }
  const sigset_t set = deadly_signals();  // after the thread was made, which takes none
  pthread_sigmask(SIG_UNBLOCK, &set, &before_);
}

HostFunctionWatch::~HostFunctionWatch() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  if (thread_.joinable()) thread_.join();
}

RunWatch::RunWatch(bool quiet) : shows_(!quiet && isatty(STDERR_FILENO) != 0) {}

std::string RunWatch::text() const {
  const double seconds =
      std::max(std::chrono::duration<double>(Clock::now() - start_).count(), 1e-3);
  std::string out = "kernel " + kernel_;
  if (executing_.blocks != 0)
    out += fmt::format(": block {} of {}, {} warp instructions executed ({:.3g} million a second)",
                       executing_.block + 1, grouped(executing_.blocks),
                       grouped(executing_.warp_instructions),
                       static_cast<double>(executing_.warp_instructions) / seconds * 1e-6);
  if (cycles_ != first_cycle_)
    out += fmt::format("{} {} cycles simulated ({:.3g} thousand a second)",
                       executing_.blocks != 0 ? "," : ":", grouped(cycles_ - first_cycle_),
                       static_cast<double>(cycles_ - first_cycle_) / seconds * 1e-3);
  return place_.empty() ? out : out + "; " + place_;
}

void RunWatch::see(const sim::Progress& progress) {
  const Clock::time_point now = Clock::now();
  const std::string name =
      progress.executing != nullptr ? progress.kernel : short_name(progress.kernel);
  const bool again = progress.executing != nullptr &&
                     progress.executing->warp_instructions < executing_.warp_instructions;
  if (name != kernel_ || again) {
    kernel_ = name;
    place_.clear();
    executing_ = {};
    start_ = now;
    last_place_ = {};
    if (progress.executing == nullptr) cycles_ = progress.cycles;
    first_cycle_ = cycles_;
  }
  if (progress.executing != nullptr) executing_ = *progress.executing;
  else cycles_ = std::max(cycles_, progress.cycles);
  constexpr auto kBetweenPlaces = std::chrono::milliseconds(200);
  if (progress.executing != nullptr && now - last_place_ > kBetweenPlaces) {
    place_ = progress.executing->place();
    last_place_ = now;
  }
  executing_.place = nullptr;  // of somebody who may be gone when we are asked
  const sigset_t set = deadly_signals();
  const timespec at_once{};
  if (const int signal = sigtimedwait(&set, nullptr, &at_once); signal > 0) {
    clear();
    std::fputs(fmt::format("raddle: signal {} while {}\n", signal, text()).c_str(), stderr);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    raise(signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
  constexpr auto kPatience = std::chrono::seconds(3), kBetweenLines = std::chrono::seconds(1);
  if (!shows_ || now - start_ < kPatience || now - last_line_ < kBetweenLines) return;
  if (isatty(STDERR_FILENO) == 0) return;  // the program has made a file of it
  last_line_ = now;
  shown_ = true;
  std::fputs(fmt::format("\r\033[K{:.110}", text()).c_str(), stderr);
}

void RunWatch::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace raddle::cudart
