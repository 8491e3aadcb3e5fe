// The clock. A window starts at a multiple of W, the length of the shortest wire, so nothing sent
// inside it arrives inside it: each component runs the window alone, in any order, on any thread,
// with the same result. Windows in which nobody can act are jumped over, and inside a window a
// component sleeps until it can act.
//
// A component has
// - Cycle tick(Cycle now): one cycle; returns the next in which it can act (> now), messages on its
//   wires included. Ticking it more often must never change a counter.
// - Cycle next_arrival(Cycle from) const: the earliest message on its wires; a time before `from`
//   means now.
// - void open_window(): called before the first tick of a window.
// And it may have
// - void prefetch(Cycle end): hints what a window up to `end` will touch; changes no result.
// - Cycle run(Cycle from, Cycle end): as many tick()s as there are to `end`, for less than those
//   cost.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/base/types.h"

namespace raddle::timing {

class Engine {
 public:
  /// shuffle: components run in another order in each window (tests).
  Engine(Cycle window, bool skip, bool shuffle) : window_(window), skip_(skip), shuffle_(shuffle) {}

  /// Components run in the order in which they were added; each must outlive the engine.
  template <class C>
  void add(C& component) {
    order_.push_back(static_cast<unsigned>(tasks_.size()));
    tasks_.push_back(std::make_unique<TaskOf<C>>(component));
    next_.push_back(0);
  }
  /// Cycles before this one are over.
  Cycle end() const { return end_; }
  std::uint64_t windows() const { return windows_; }

  /// end() lies between two windows, where done() and before() are called.
  bool between_windows() const { return end_ % window_ == 0; }
  /// Precondition: nobody can act before `at`.
  void skip_to(Cycle at) { end_ = std::max(end_, at); }

  /// Runs windows on `threads` threads until done() (true), or until nobody can ever act again
  /// (false). before(begin) is called before each window with its first cycle. What they and
  /// components throw comes out; of several components that throw in one window, the exception of
  /// the first added.
  /// No cycle from `limit` on is run: true when end() is there. A window that the limit cuts is
  /// run to its end by the next call, so where limits were makes no difference to what happens.
  template <class Done, class Before>
  bool run(unsigned threads, Done done, Before before, Cycle limit = kNever) {
    RADDLE_ASSERT(limit >= end_);
    ThreadPool pool(*this, threads);
    if (!between_windows() && !run_rest(pool, limit)) return true;
    while (!done()) {
      Cycle first = first_wake();
      if (first == kNever) return false;
      begin_ = first / window_ * window_;
      if (begin_ >= limit) {
        end_ = limit;
        return true;
      }
      before(begin_);
      end_ = std::min(begin_ + window_, limit);
      ++windows_;
      if (shuffle_) shuffle();
      pool.run_window();
      if (end_ == limit) return true;
    }
    return true;
  }

 private:
  class Task {
   public:
    virtual ~Task() = default;
    virtual Cycle next_arrival(Cycle from) const = 0;
    virtual void prefetch(Cycle end) = 0;
    /// Runs from cycle t to the end of the window; returns the next cycle it can act.
    virtual Cycle run(Cycle t, Cycle end, bool skip) = 0;
  };
  template <class C>
  class TaskOf final : public Task {
   public:
    explicit TaskOf(C& component) : component_(component) {}
    Cycle next_arrival(Cycle from) const override { return component_.next_arrival(from); }
    void prefetch(Cycle end) override {
      if constexpr (requires(C & c) { c.prefetch(end); }) component_.prefetch(end);
    }
    Cycle run(Cycle t, Cycle end, bool skip) override {
      component_.open_window();
      if (skip) {
        if constexpr (requires(C & c) { c.run(t, end); }) return component_.run(t, end);
        while (t < end) t = component_.tick(t);
        return t;
      }
      Cycle next = t;
      for (; t < end; ++t) next = component_.tick(t);
      return next;
    }

   private:
    C& component_;
  };

  /// Threads that share the tasks of each window through one counter, between two barriers. Who
  /// waits for long goes to sleep; and where others want the cores, so that a thread which is not
  /// running holds the rest up, the first thread does the next windows alone.
  class ThreadPool {
   public:
    ThreadPool(Engine& engine, unsigned threads);
    ~ThreadPool();
    void run_window();

   private:
    static constexpr unsigned kLongTasks = 2;
    /// Windows between two looks at the clock, and those that are run alone after a bad one: at
    /// first, and when one follows another at most.
    static constexpr unsigned kPeriod = 256, kShortPause = 16 * kPeriod,
                              kLongPause = 64 * kShortPause;
    void check_clock();
    void help();
    void work();
    void run_task(unsigned task);

    Engine& engine_;
    std::vector<std::thread> helpers_;
    std::atomic<unsigned> task_{0}, arrived_{0}, generation_{0};
    unsigned windows_ = 0, alone_ = 0, pause_ = kShortPause;  // alone_: so many are still to be
    double wall_ = 0, own_ = 0;  // seconds: of the clock, and of the first thread on a core
    std::atomic<bool> stop_{false};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    unsigned failed_task_ = 0;
  };

  Cycle wake(unsigned task, Cycle from) const {
    return std::max(from, std::min(next_[task], tasks_[task]->next_arrival(from)));
  }
  /// What is left of a window up to the limit; false when the limit is reached.
  bool run_rest(ThreadPool& pool, Cycle limit) {
    begin_ = end_;
    end_ = std::min((begin_ / window_ + 1) * window_, limit);
    pool.run_window();
    return end_ != limit;
  }
  Cycle first_wake() const;
  Cycle wake_in_window(unsigned task) const { return skip_ ? wake(task, begin_) : begin_; }
  void run_task(unsigned task) { run_task(task, wake_in_window(task)); }
  void run_task(unsigned task, Cycle t) {
    next_[task] = t < end_ ? tasks_[task]->run(t, end_, skip_) : t;
  }
  void run_alone();
  void shuffle();

  Cycle window_;
  bool skip_, shuffle_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Cycle> next_;
  std::vector<unsigned> order_;
  Cycle begin_ = 0, end_ = 0;
  std::uint64_t windows_ = 0;
  Rng rng_{1};
};

}  // namespace raddle::timing
