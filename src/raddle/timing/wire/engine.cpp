#include "raddle/timing/wire/engine.h"

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

void Engine::run_task(unsigned task) {
  Cycle t = skip_ ? wake(task, begin_) : begin_;
  next_[task] = t < end_ ? tasks_[task]->run(t, end_, skip_) : t;
}

/// A window on one thread: while a component runs, what the next will touch comes near. In a window
/// of one cycle that is too little for what it costs to say so.
void Engine::run_alone() {
  auto announce = [&](std::size_t n) {
    if (window_ > 1 && n < order_.size()) tasks_[order_[n]]->prefetch(end_);
  };
  announce(0);
  for (std::size_t n = 0; n < order_.size(); ++n) {
    announce(n + 1);
    run_task(order_[n]);
  }
}

void Engine::shuffle() {
  for (unsigned i = static_cast<unsigned>(order_.size()); i > 1; --i)
    std::swap(order_[i - 1], order_[rng_.below(i)]);
}

Engine::Crew::Crew(Engine& engine, unsigned threads) : engine_(engine) {
  for (unsigned i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

Engine::Crew::~Crew() {
  stop_.store(true, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  for (std::thread& h : helpers_) h.join();
}

void Engine::Crew::run_window() {
  if (helpers_.empty()) return engine_.run_alone();
  task_.store(0, std::memory_order_relaxed);
  arrived_.store(0, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  work();
  for (unsigned spin = 0; arrived_.load(std::memory_order_acquire) != helpers_.size();)
    if (++spin > 2000) std::this_thread::yield();
  if (failure_) std::rethrow_exception(failure_);
}

void Engine::Crew::help() {
  for (std::uint64_t seen = 0;;) {
    for (unsigned spin = 0; generation_.load(std::memory_order_acquire) == seen;)
      if (++spin > 2000) std::this_thread::yield();
    ++seen;
    if (stop_.load(std::memory_order_relaxed)) return;
    work();
    arrived_.fetch_add(1, std::memory_order_release);
  }
}

// While a task runs, the next is claimed and what it will touch comes near; but nobody claims
// another beside one of the first, which are long, or when few are left for the others.
void Engine::Crew::work() {
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
void Engine::Crew::run_task(unsigned task) {
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
