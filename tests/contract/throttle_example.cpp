// The throttle of docs/adding-a-policy.md keeps the contract, and counts as the page says; the same
// with its counter in admit() does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/seeded_views.h"

namespace raddle::contract::throttle_example_test {
namespace {

using policy::Admission;
using policy::ThrottlePolicy;
using policy::ThrottleView;
using policy::WarpMask;

class Calm : public ThrottlePolicy {
 public:
  struct Params {
    std::uint32_t maximum = 16;
    void visit(FieldVisitor& v) {
      v.field("most", maximum, {1, 1024}, "loads", "of an SM that are under way at once");
    }
  };
  Calm(const Params& params, const Context&) : maximum_(params.maximum) {}

  void on_load(Cycle now, TenantId) override {
    if (++under_way_ != maximum_) return;
    ++stats_.full;
    since_ = now;
    ask_again();
  }
  void on_load_done(Cycle now, TenantId) override {
    if (under_way_-- != maximum_) return;
    stats_.cycles += now - since_;
    ask_again();
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 protected:
  struct Stats {
    std::uint64_t full = 0, cycles = 0;
    void visit(FieldVisitor& v) {
      v.field("full", full, {}, "times", "the last place was taken");
      v.field("cycles", cycles, {}, "cycles", "in which loads had to wait");
    }
  };
  Admission admit(const ThrottleView&) override {
    return {~WarpMask{0}, under_way_ < maximum_ ? ~WarpMask{0} : 0, kNever};
  }
  std::uint32_t maximum_, under_way_ = 0;
  Cycle since_ = 0;  ///< when the last place was taken
  Stats stats_;
};

class CountsItsAnswers final : public Calm {
 public:
  using Calm::Calm;

 private:
  Admission admit(const ThrottleView& view) override {
    const Admission answer = Calm::admit(view);
    stats_.full += answer.load == 0;
    return answer;
  }
};

template <class P>
std::string check(std::uint32_t maximum) {
  typename P::Params params;
  params.maximum = maximum;
  return check_throttle([&](const auto& context) { return std::make_unique<P>(params, context); },
                        1);
}

TEST(ThrottleExample, KeepsTheContract) {
  for (const std::uint32_t maximum : {1u, 2u, 16u}) EXPECT_EQ(check<Calm>(maximum), "") << maximum;
}

TEST(ThrottleExample, CountingAnswersIsToldAsThatMistake) {
  EXPECT_THAT(check<CountsItsAnswers>(2),
              testing::AllOf(testing::HasSubstr("how often it was asked"),
                             testing::HasSubstr("not the calls of admit()")));
}

}  // namespace
}  // namespace raddle::contract::throttle_example_test
