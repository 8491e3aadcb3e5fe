#include "raddle/timing/wire/engine.h"

#include <ctime>
#include <system_error>

namespace raddle::timing {

Cycle Engine::first_wake() const {
  if (!skip_) return end_;
  // Most windows follow the one before; then one component that says so is enough.
  for (Cycle n : next_)
    if (n < end_ + window_) return end_;
  Cycle first = kNever;
  for (unsigned i = 0; i < tasks_.size(); ++i) first = std::min(first, wake(i, end_));
  return first;
}

/// A window on one thread: while a component runs, what the next will touch comes near. In a window
/// of one cycle that is too little for what it costs to say so. When a component wakes is the same
/// before and after others have run: what they send comes later than the window.
void Engine::run_alone() {
  auto announce = [&](std::size_t n) {
    if (n == order_.size()) return kNever;
    const Cycle t = wake_in_window(order_[n]);
    if (window_ > 1 && t < end_) tasks_[order_[n]]->prefetch(end_);
    return t;
  };
  Cycle next = announce(0);
  for (std::size_t n = 0; n < order_.size(); ++n) {
    const Cycle t = next;
    next = announce(n + 1);
    run_task(order_[n], t);
  }
}

void Engine::shuffle() {
  for (unsigned i = static_cast<unsigned>(order_.size()); i > 1; --i)
    std::swap(order_[i - 1], order_[rng_.below(i)]);
}

Engine::ThreadPool::ThreadPool(Engine& engine, unsigned threads) : engine_(engine) {
  helpers_.reserve(threads - 1);
  try {
    while (helpers_.size() + 1 < threads) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {
    // The system gives no more of them; the result is the same with those that there are.
  }
}

Engine::ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& h : helpers_) h.join();
}

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Until the value is another one: some 20 us awake, as what is waited for mostly comes soon.
void await_change(const std::atomic<unsigned>& value, unsigned from) {
  constexpr unsigned kSpins = 1000;
  for (unsigned spin = 0; spin < kSpins; ++spin) {
    if (value.load(std::memory_order_acquire) != from) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  value.wait(from, std::memory_order_acquire);
}

}  // namespace

void Engine::ThreadPool::run_window() {
  if (helpers_.empty()) return engine_.run_alone();
  if (alone_ != 0) {
    --alone_;
    return engine_.run_alone();
  }
  check_clock();
  task_.store(0, std::memory_order_relaxed);
  arrived_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  work();
  const auto all = static_cast<unsigned>(helpers_.size());
  for (unsigned here = 0; (here = arrived_.load(std::memory_order_acquire)) != all;)
    await_change(arrived_, here);
  if (failure_) std::rethrow_exception(failure_);
}

/// A thread that is ready and not running costs the others the time of a turn of its core.
void Engine::ThreadPool::check_clock() {
  if (windows_++ % kPeriod != 0) return;
  const double wall = seconds_of(CLOCK_MONOTONIC), own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  const bool held_up = windows_ > 1 && wall - wall_ > 1.5 * (own - own_);
  wall_ = wall;
  own_ = own;
  if (windows_ == 1) return;
  if (!held_up) {
    pause_ = kShortPause;
    return;
  }
  alone_ = pause_;
  pause_ = std::min(2 * pause_, kLongPause);
  windows_ = 0;  // the clock starts anew after that
}

void Engine::ThreadPool::help() {
  for (unsigned seen = 0;;) {
    await_change(generation_, seen);
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    work();
    // The last one wakes who waits for all.
    if (arrived_.fetch_add(1, std::memory_order_release) + 1 == helpers_.size())
      arrived_.notify_one();
  }
}

// While a task runs, the next is claimed and what it will touch comes near; but nobody claims
// another beside one of the first, which are long, or when few are left for the others.
void Engine::ThreadPool::work() {
  const auto tasks = static_cast<unsigned>(engine_.tasks_.size()),
             kept = 2 * static_cast<unsigned>(helpers_.size() + 1);
  auto claim = [&] {
    const unsigned i = task_.fetch_add(1, std::memory_order_relaxed);
    if (engine_.window_ > 1 && i < tasks) engine_.tasks_[engine_.order_[i]]->prefetch(engine_.end_);
    return i;
  };
  for (unsigned i = claim(), next; i < tasks; i = next) {
    const bool ahead = i >= kLongTasks && i + kept < tasks;
    next = ahead ? claim() : tasks;
    run_task(engine_.order_[i]);
    if (!ahead) next = claim();
  }
}

// Which component's exception comes out must not depend on the threads' speed.
void Engine::ThreadPool::run_task(unsigned task) {
  try {
    engine_.run_task(task);
  } catch (...) {
    std::lock_guard lock(failure_mutex_);
    if (!failure_ || task < failed_task_) {
      failure_ = std::current_exception();
      failed_task_ = task;
    }
  }
}

}  // namespace raddle::timing
