#include "raddle/analysis/l1_figures.h"

#include "raddle/analysis/figures.h"
#include "raddle/base/error.h"

namespace raddle::analysis {

namespace {

void visit_classes(FieldVisitor& v, const HitClasses& c, const Instructions& n) {
  figure(v, "intra_thread_hits", c.intra_thread,
         "by the warp that brought the line, with a lane that has touched it");
  figure(v, "inter_thread_hits", c.inter_thread,
         "by the warp that brought the line, with other lanes");
  figure(v, "inter_warp_hits", c.inter_warp, "by another warp");
  rate(v, "intra_thread_pki", c.intra_thread, n.thread, "per 1000 thread instructions");
  rate(v, "inter_thread_pki", c.inter_thread, n.thread, "per 1000 thread instructions");
  rate(v, "inter_warp_pki", c.inter_warp, n.thread, "per 1000 thread instructions");
}

void visit_misses(FieldVisitor& v, std::uint64_t misses, std::uint64_t accesses,
                  const Instructions& n) {
  RADDLE_ASSERT(misses <= accesses);
  figure(v, "misses", misses, "loads of lines that ask the L2");
  ratio(v, "miss_rate", misses, accesses, "misses / accesses");
  rate(v, "mpki", misses, n.thread, "misses per 1000 thread instructions");
  rate(v, "warp_mpki", misses, n.warp, "misses per 1000 warp instructions");
}

}  // namespace

void visit_replay(FieldVisitor& v, const ReplayCounts& c, const Instructions& n) {
  RADDLE_ASSERT(c.hits + c.misses == c.accesses && c.classes.total() == c.hits);
  figure(v, "accesses", c.accesses, "loads of lines");
  figure(v, "hits", c.hits, "");
  visit_misses(v, c.misses, c.accesses, n);
  visit_classes(v, c.classes, n);
}

void visit_locality(FieldVisitor& v, const LocalityCounts& c, const Instructions& n) {
  RADDLE_ASSERT(c.hits.total() + c.pending_hits + c.misses == c.accesses);
  figure(v, "accesses", c.accesses, "loads of lines");
  figure(v, "hits", c.hits.total(), "");
  figure(v, "pending_hits", c.pending_hits, "loads that wait for a miss under way");
  visit_misses(v, c.misses, c.accesses, n);
  rate(v, "pending_hit_pki", c.pending_hits, n.thread, "per 1000 thread instructions");
  visit_classes(v, c.hits, n);
  v.enter("pending", "classes of the pending hits");
  visit_classes(v, c.pending, n);
  v.leave();
  figure(v, "warps", c.warps, "warps that ran");
  ratio(v, "lines_per_warp", c.warp_lines, c.warps, "distinct lines that a warp loads, mean");
}

}  // namespace raddle::analysis
