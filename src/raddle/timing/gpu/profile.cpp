#include "raddle/timing/gpu/profile.h"

namespace raddle::timing {

Profile profile_of(const DecodedCodes& codes, std::span<const std::unique_ptr<Sm>> sms,
                   SamplingTimes samplings, Cycle now) {
  Profile out;
  out.samplings = samplings.before(now);
  for (const auto& code : codes.all()) {
    CodeProfile& of = out.codes.emplace_back();
    of.code = code->lowered;
    of.instructions.resize(code->kernel.size());
    for (const auto& sm : sms) {
      const auto& tables = sm->profile(now)->tables();
      const auto table = tables.find(&code->kernel);
      if (table == tables.end()) continue;
      for (std::size_t i = 0; i < of.instructions.size(); ++i)
        stats::accumulate(of.instructions[i], table->second[i]);
    }
  }
  return out;
}

}  // namespace raddle::timing
