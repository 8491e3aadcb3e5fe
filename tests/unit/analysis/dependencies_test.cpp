// Classes of loads by who wrote the word, and the two ways of counting.
#include "raddle/analysis/dependencies.h"

#include <gtest/gtest.h>

#include "unit/analysis/figures.h"

namespace raddle::analysis::dependencies_test {
namespace {

constexpr Address kA = 0x10'0000'0000, kB = kA + 0x10000;  // two arrays of 1000 words

/// Blocks of one thread unless said otherwise.
class Notified {
 public:
  Notified() {
    all_.allocated(kA, 4000);
    all_.allocated(kB, 4000);
  }
  Dependencies& operator*() { return all_; }
  Dependencies* operator->() { return &all_; }
  /// A launch of `blocks` blocks, each of which does f(block) and then ends.
  template <class F>
  void launch(Dim3 grid, F f, const std::string& name = "k") {
    all_.begin(name, grid);
    for (std::uint32_t b = 0; b < grid.count(); ++b) {
      f(b);
      all_.ended(b);
    }
    all_.end();
  }
  void load_and_use(std::uint32_t block, Address word, std::uint32_t thread = 0) {
    all_.use(block, thread, all_.load(block, thread, word));
  }
  void store(std::uint32_t block, Address word) { all_.store(block, 0, word, 4); }
  std::uint64_t executed(Producer p) const { return all_.total().executed.of(p); }
  std::uint64_t logical(Producer p) const { return all_.total().logical.of(p); }

 private:
  Dependencies all_;
};

Address word(Address array, std::uint32_t i) { return array + 4 * i; }

TEST(Dependencies, TheLaunchBeforeDecidesBetweenSelfAndOlder) {
  Notified d;
  const auto produce = [&](std::uint32_t b) { d.store(b, word(kA, b)); };
  const auto consume = [&](std::uint32_t b) { d.load_and_use(b, word(kA, b)); };
  d.launch({4}, produce);
  d.launch({4}, consume);
  d.launch({4}, consume);
  EXPECT_EQ(d.executed(Producer::Self), 4u);
  EXPECT_EQ(d.executed(Producer::OlderSelf), 4u);
  EXPECT_EQ(d->total().executed.total(), 8u);
  EXPECT_EQ(d->total().executed.other(), 4u);
}

TEST(Dependencies, NeighboursThatStayAreGhostsAndDistantBlocksAreNot) {
  Notified d;
  d.launch({4}, [&](std::uint32_t b) { d.store(b, word(kA, b)); });
  d.launch({4}, [&](std::uint32_t b) {
    for (std::uint32_t from = 0; from < 4; ++from) d.load_and_use(b, word(kA, from));
    d.store(b, word(kB, b));  // the same place of another array
  });
  EXPECT_EQ(d.logical(Producer::Self), 4u);
  EXPECT_EQ(d.logical(Producer::Ghost), 6u);
  EXPECT_EQ(d.logical(Producer::Elsewhere), 6u);
}

TEST(Dependencies, NeighboursAreNeighboursInEveryDimension) {
  Notified d;
  const Dim3 grid{3, 3, 2};
  d.launch(grid, [&](std::uint32_t b) { d.store(b, word(kA, b)); });
  d.launch(grid, [&](std::uint32_t b) {
    if (b == 0)
      for (std::uint32_t from = 0; from < 18; ++from) d.load_and_use(b, word(kA, from));
    d.store(b, word(kA, b));
  });
  EXPECT_EQ(d.logical(Producer::Self), 1u);
  EXPECT_EQ(d.logical(Producer::Ghost), 7u) << "x, y and z of 0 or 1";
  EXPECT_EQ(d.logical(Producer::Elsewhere), 10u);
}

TEST(Dependencies, BlocksThatMoveOnHaveNoGhosts) {
  Notified d;  // as in a wavefront: block b's tile is another one in every launch
  const auto step = [&](std::uint32_t launch) {
    d.launch({3}, [&](std::uint32_t b) {
      if (launch > 0 && b > 0) d.load_and_use(b, word(kA, 10 * (launch - 1) + b - 1));
      d.store(b, word(kA, 10 * launch + b));
    });
  };
  for (std::uint32_t launch = 0; launch < 3; ++launch) step(launch);
  EXPECT_EQ(d.logical(Producer::Ghost), 0u);
  EXPECT_EQ(d.logical(Producer::Elsewhere), 4u);
}

TEST(Dependencies, OfGridsOfDifferentShapeCoordinatesCount) {
  Notified d;
  d.launch({2, 2}, [&](std::uint32_t b) { d.store(b, word(kA, b)); });
  d.launch({3, 2}, [&](std::uint32_t b) {  // block (0, 1) is number 3 here and was number 2
    if (b == 3) d.load_and_use(b, word(kA, 2));
    d.store(b, word(kA, 100 + b));
  });
  EXPECT_EQ(d.logical(Producer::Self), 1u);
  EXPECT_EQ(d->total().logical.total(), 1u);
}

TEST(Dependencies, InputsAreNotCountedAndTheHostIsOther) {
  Notified d;
  d->host_wrote(word(kA, 0));
  d.launch({1}, [&](std::uint32_t b) {
    d.load_and_use(b, word(kA, 0));  // the host's, before everything
    d.load_and_use(b, word(kA, 1));  // nobody's
  });
  d->host_wrote(word(kA, 1));
  d.launch({1}, [&](std::uint32_t b) {
    d.load_and_use(b, word(kA, 0));
    d.load_and_use(b, word(kA, 1));
  });
  EXPECT_EQ(d.executed(Producer::Input), 3u);
  EXPECT_EQ(d.executed(Producer::Host), 1u);
  EXPECT_EQ(d->total().executed.total(), 1u);
}

TEST(Dependencies, WordsOfTheSameLaunchAreNoDependenceBetweenKernels) {
  Notified d;
  d.launch({2}, [&](std::uint32_t b) {
    d.store(b, word(kA, b));
    d.load_and_use(b, word(kA, 0));
  });
  EXPECT_EQ(d.executed(Producer::SameKernel), 2u);
  EXPECT_EQ(d->total().executed.total(), 0u);
}

TEST(Dependencies, FreedMemoryIsInputAgain) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) { d.store(b, word(kA, 0)); });
  d->freed(kA);
  d->allocated(kA, 4000);
  d.launch({1}, [&](std::uint32_t b) { d.load_and_use(b, word(kA, 0)); });
  EXPECT_EQ(d.executed(Producer::Input), 1u);
}

TEST(Dependencies, AWordCountsOncePerThreadAndLaunch) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) { d.store(b, word(kA, 0)); });
  for (unsigned launch = 0; launch < 2; ++launch)
    d.launch({1}, [&](std::uint32_t b) {
      for (std::uint32_t thread : {0u, 0u, 1023u, 0u}) d.load_and_use(b, word(kA, 0), thread);
    });
  EXPECT_EQ(d.executed(Producer::Self), 2u);
  EXPECT_EQ(d.executed(Producer::OlderSelf), 2u);
  EXPECT_EQ(d.logical(Producer::Self), 2u);
}

TEST(Dependencies, StagedWordsCountForTheirUsers) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) { d.store(b, word(kA, 0)); });
  d.launch({1}, [&](std::uint32_t b) {
    const auto tag = d->load(b, 0, word(kA, 0));
    d.store(b, word(kA, 0));  // what was loaded stays what it was
    for (std::uint32_t thread = 1; thread < 5; ++thread) d->use(b, thread, tag);
  });
  EXPECT_EQ(d.executed(Producer::Self), 1u);
  EXPECT_EQ(d.logical(Producer::Self), 4u);
}

TEST(Dependencies, EachOutputOfAThreadCountsItsWords) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) {
    for (std::uint32_t i = 0; i < 10; ++i) d.store(b, word(kA, i));
  });
  d.launch({1}, [&](std::uint32_t b) {  // out[i] = f(a[i], a[i + 1]), a[i + 1] kept in a register
    auto kept = d->load(b, 0, word(kA, 0));
    for (std::uint32_t i = 0; i < 5; ++i) {
      const auto next = d->load(b, 0, word(kA, i + 1));
      d->use(b, 0, kept);
      d->use(b, 0, next);
      d->use(b, 0, kept);
      d.store(b, word(kB, i));
      kept = next;
    }
  });
  EXPECT_EQ(d.executed(Producer::Self), 6u);
  EXPECT_EQ(d.logical(Producer::Self), 10u);
}

TEST(Dependencies, SeveralArraysMayTakeOneOutput) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) {
    d.store(b, word(kA, 500));
    d.store(b, word(kA, 501));
  });
  d.launch({1}, [&](std::uint32_t b) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      d.load_and_use(b, word(kA, 500));
      d.store(b, word(kA, i));  // the first half of an output
      d.load_and_use(b, word(kA, 500));
      d.load_and_use(b, word(kA, 501));
      d.store(b, word(kB, i));  // the other
    }
  });
  EXPECT_EQ(d.logical(Producer::Self), 6u) << "two words of each of three outputs";
}

TEST(Dependencies, OneInstructionsStoreIsOneOutput) {
  Notified d;
  d.launch({1}, [&](std::uint32_t b) { d.store(b, word(kA, 0)); });
  d.launch({1}, [&](std::uint32_t b) {
    d.load_and_use(b, word(kA, 0));
    d->store(b, 0, word(kB, 0), 16);
    d.load_and_use(b, word(kA, 0));
  });
  EXPECT_EQ(d.logical(Producer::Self), 1u) << "nothing is stored after the second use";
  d.launch({1}, [&](std::uint32_t b) { d.load_and_use(b, word(kB, 3)); });
  EXPECT_EQ(d.logical(Producer::Self), 2u) << "all words of the access are written";
}

TEST(Dependencies, KernelsAreToldApartByName) {
  Notified d;
  const auto copy = [&](std::uint32_t b) {
    d.load_and_use(b, word(kA, b));
    d.store(b, word(kA, b));
  };
  d.launch({2}, copy, "first");
  d.launch({2}, copy, "second");
  d.launch({2}, copy, "first");
  d.launch(
      {2}, [&](std::uint32_t b) { d.load_and_use(b, word(kA, 1 - b)); }, "second");
  ASSERT_EQ(d->kernels().size(), 2u);
  EXPECT_EQ(d->kernels()[0].name, "first");
  EXPECT_EQ(d->kernels()[0].launches, 2u);
  EXPECT_EQ(d->kernels()[0].logical.of(Producer::Self), 2u);
  EXPECT_EQ(d->kernels()[0].logical.of(Producer::Input), 2u);
  EXPECT_EQ(d->kernels()[1].min_self, 0.0);
  EXPECT_EQ(d->kernels()[1].max_self, 1.0);
  EXPECT_EQ(d->total().launches, 4u);
  EXPECT_EQ(d->total().dependent_launches, 3u);
}

TEST(Dependencies, BlocksMayTakeTurns) {
  Notified d;
  d.launch({2}, [&](std::uint32_t b) { d.store(b, word(kA, b)); });
  d->begin("k", {2});
  for (std::uint32_t round = 0; round < 2; ++round)
    for (std::uint32_t b : {1u, 0u}) d.load_and_use(b, word(kA, b));
  d->ended(1);
  d->ended(0);
  d->end();
  EXPECT_EQ(d.logical(Producer::Self), 2u);
}

TEST(Dependencies, SharesAreOfWhatOtherLaunchesAndTheHostHaveWritten) {
  Notified d;
  d.launch({2}, [&](std::uint32_t b) {
    d.store(b, word(kA, b));
    d.store(b, word(kA, 20 + b));
  });
  d->host_wrote(word(kB, 0));
  d.launch({2}, [&](std::uint32_t b) {
    d.load_and_use(b, word(kA, 0));
    d.load_and_use(b, word(kB, 0));
    d.load_and_use(b, word(kB, 9));
    d.store(b, word(kB, 20 + b));
  });
  d->unseen();
  Figures f;
  d->visit(f);
  EXPECT_EQ(f.at["logical.self"], 1);
  EXPECT_EQ(f.at["logical.ghost"], 1);
  EXPECT_EQ(f.at["logical.host"], 2);
  EXPECT_EQ(f.at["logical.other"], 2);
  EXPECT_EQ(f.at["logical.input"], 2);
  EXPECT_EQ(f.at["logical.self_share"], 0.25);
  EXPECT_EQ(f.at["executed.ghost_share"], 0.25);
  EXPECT_EQ(f.at["logical.other_share"], 0.5);
  EXPECT_EQ(f.at["logical.self_or_older_share"], 0.25);
  EXPECT_EQ(f.at["kernels.k.launches"], 2);
  EXPECT_EQ(f.at["kernels.k.most_self_share"], 0.25);
  EXPECT_EQ(f.at["unseen_instructions"], 1);
}

}  // namespace
}  // namespace raddle::analysis::dependencies_test
