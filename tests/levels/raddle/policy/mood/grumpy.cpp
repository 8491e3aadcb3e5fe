#include "raddle/policy/mood/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Grumpy final : public MoodPolicy {
 public:
  struct Params {
    std::uint32_t each_time = 2;
    void visit(FieldVisitor& v) {
      v.field("each_time", each_time, {1, 9}, "", "complaints each time it is asked");
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      if (each_time <= machine.sms) return {};
      return {"policy.mood.each_time = " + std::to_string(each_time) + " needs as many SMs"};
    }
  };
  Grumpy(const Params& params, const Context&) : params_(params) {}
  std::uint32_t complaints() override {
    notified_ += params_.each_time;
    return params_.each_time;
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("complaints", notified_, {}, "", "complaints in all");
  }

 private:
  Params params_;
  std::uint64_t notified_ = 0;
};

}  // namespace

void add_mood_grumpy(Registry<MoodPolicy>& r) { r.add<Grumpy>("grumpy", "complains"); }

}  // namespace raddle::policy
