#include "common/heap.h"

#include <algorithm>
#include <utility>

#include "common/draw.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

constexpr std::uint32_t kMinWords = 4, kMaxWords = 24, kMeanWords = 8, kMaxReferences = 8;
constexpr double kMeanOthers = 3;  // references beside those of the structure, per object

struct Structure {
  std::uint32_t first, count;
  bool lives;
};

class Builder {
 public:
  Builder(const HeapSpec& spec, Rng& rng) : spec_(spec), rng_(rng), references_(spec.objects) {}

  Heap build() {
    for (std::uint32_t next = 0; next < spec_.objects;) next += add_structure(next);
    for (const Structure& structure : structures_) refer_to_others(structure);
    place();
    fill();
    choose_roots();
    return std::move(heap_);
  }

 private:
  std::uint32_t add_structure(std::uint32_t first) {
    std::uint32_t kind = rng_.below(3), left = spec_.objects - first;
    std::uint32_t count = kind == 0   ? 2 + rng_.below(23)
                          : kind == 1 ? 3 + rng_.below(61)
                                      : 4 + rng_.below(29);
    count = std::min(count, left);
    auto join = [&](std::uint32_t from, std::uint32_t to) {
      references_[first + from].push_back(first + to);
    };
    for (std::uint32_t i = 1; i < count; ++i) {
      if (kind == 0) join(i - 1, i);
      if (kind == 1) join((i - 1) / 2, i);
      if (kind == 2) {
        // At most two of the last four: no object gets more references than it may have.
        join(i - 1 - rng_.below(std::min(i, 4u)), i);
        if (rng_.unit() < 0.5) join(i - 1 - rng_.below(std::min(i, 4u)), i);
      }
    }
    bool lives = rng_.unit() < spec_.live_share;
    structures_.push_back({first, count, lives});
    lives_.resize(first + count, lives);
    return count;
  }

  std::uint32_t near(std::uint32_t object) {
    std::uint32_t distance = 1 + geometric(spec_.near_objects - 1.0, rng_);
    bool back = rng_.below(2) == 0;
    if (back) return object - std::min(object, distance);
    return std::min(object + distance, spec_.objects - 1);
  }

  void refer_to_others(const Structure& own) {
    for (std::uint32_t o = own.first; o < own.first + own.count; ++o) {
      std::uint32_t room = kMaxReferences - static_cast<std::uint32_t>(references_[o].size());
      std::uint32_t others = std::min(geometric(kMeanOthers, rng_), room);
      for (std::uint32_t i = 0; i < others; ++i) {
        std::uint32_t target = rng_.unit() < spec_.near_share ? near(o) : rng_.below(spec_.objects);
        if (own.lives && !lives_[target]) continue;  // the field stays empty
        references_[o].push_back(target);
      }
    }
  }

  // Sizes, and free space dealt out in random parts.
  void place() {
    std::vector<std::uint32_t> size(spec_.objects);
    std::vector<double> gap(spec_.objects);
    std::uint64_t used = 1;
    double gaps = 0;
    for (std::uint32_t o = 0; o < spec_.objects; ++o) {
      auto minimum =
          std::max<std::uint32_t>(kMinWords, static_cast<std::uint32_t>(references_[o].size()) + 1);
      size[o] = std::min(std::max(kMinWords + geometric(kMeanWords - kMinWords, rng_), minimum),
                         kMaxWords);
      used += size[o];
      gaps += gap[o] = rng_.unit() < 0.5 ? 0 : rng_.unit();
    }
    RADDLE_ASSERT(used <= spec_.words);
    double scale = gaps == 0 ? 0 : static_cast<double>(spec_.words - used) / gaps, before = 0;
    heap_.words.assign(spec_.words, 0);
    std::uint32_t at = 1;
    for (std::uint32_t o = 0; o < spec_.objects; ++o) {
      before += gap[o];
      heap_.objects.push_back(at + static_cast<std::uint32_t>(before * scale));
      at += size[o];
      heap_.words[heap_.objects.back()] = size[o];
    }
  }

  // References in random fields, some fields empty, data in the others.
  void fill() {
    for (std::uint32_t o = 0; o < spec_.objects; ++o) {
      std::uint64_t* object = &heap_.words[heap_.objects[o]];
      auto fields = static_cast<std::uint32_t>(object[0]) - 1;
      for (std::uint32_t f = 1; f <= fields; ++f)
        object[f] = rng_.unit() < 0.1 ? 0 : rng_.next() | 1;
      std::uint32_t left = static_cast<std::uint32_t>(references_[o].size());
      for (std::uint32_t f = 1; f <= fields && left != 0; ++f)
        if (rng_.below(fields - f + 1) < left)
          object[f] = std::uint64_t{8} * heap_.objects[references_[o][--left]];
    }
  }

  // One living structure in twenty is held by a root, and those that nothing else leads to.
  void choose_roots() {
    std::vector<bool> reached(spec_.objects, false);
    for (bool all : {false, true})
      for (const Structure& s : structures_) {
        if (!s.lives || (all ? reached[s.first] : rng_.below(20) != 0)) continue;
        heap_.roots.push_back(heap_.objects[s.first]);
        reach(s.first, reached);
      }
  }
  void reach(std::uint32_t object, std::vector<bool>& reached) const {
    std::vector<std::uint32_t> waiting = {object};
    while (!waiting.empty()) {
      std::uint32_t o = waiting.back();
      waiting.pop_back();
      if (reached[o]) continue;
      reached[o] = true;
      waiting.insert(waiting.end(), references_[o].begin(), references_[o].end());
    }
  }

  const HeapSpec& spec_;
  Rng& rng_;
  std::vector<std::vector<std::uint32_t>> references_;  // of each object, to objects
  std::vector<Structure> structures_;
  std::vector<bool> lives_;  // each object
  Heap heap_;
};

}  // namespace

Heap make_heap(const HeapSpec& spec, Rng& rng) {
  RADDLE_ASSERT(spec.objects >= 1 && spec.objects <= 1u << 24);
  RADDLE_ASSERT(spec.words >= min_heap_words(spec.objects) && spec.near_objects >= 2);
  return Builder(spec, rng).build();
}

std::vector<bool> living(const Heap& heap) {
  std::vector<bool> lives(heap.words.size(), false);
  std::vector<std::uint32_t> waiting = heap.roots;
  while (!waiting.empty()) {
    std::uint32_t at = waiting.back();
    waiting.pop_back();
    if (lives[at]) continue;
    lives[at] = true;
    for (std::uint32_t f = 1; f < words_of(heap.words[at]); ++f)
      if (std::uint64_t field = heap.words[at + f]; is_reference(field))
        waiting.push_back(target_of(field));
  }
  std::vector<bool> of_object;
  for (std::uint32_t at : heap.objects) of_object.push_back(lives[at]);
  return of_object;
}

}  // namespace raddle::workloads
