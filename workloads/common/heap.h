// A heap of small linked objects, as a garbage collector finds it.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// Structures are what Spoonhower, Blelloch, Harper, "Using Page Residency to Balance Tradeoffs in
/// Tracing Garbage Collection" (VEE 2005) and its like allocate: lists, trees, shared graphs.
struct HeapSpec {
  std::uint32_t objects = 1000;      ///< [1, 2^24], living and dead
  std::uint32_t words = 16'000;      ///< of the heap, 8 bytes each; see least_heap_words
  double live_share = 0.7;           ///< of the structures can be reached
  double near_share = 0.6;           ///< of the other references stay nearby ...
  std::uint32_t near_objects = 256;  ///< ... at a geometric distance with this mean
};

/// An object is a header and fields, 4 to 24 words in all, mean 8:
///   header  words of the object, header included
///   field   0: no reference; odd: data; else a reference: the target's place in bytes, a multiple
///           of 8. The first word of the heap is never an object's, so that 0 is free.
/// Objects lie in the order in which they were allocated, with free space between them. A structure
/// is some consecutive objects: a list of 2 to 24, a binary tree of 3 to 63, or a graph of 4 to 32
/// in which each object is pointed to by one or two before it. An object has up to 8 references:
/// those of its structure, and others to any objects, near or anywhere; living objects refer to
/// living ones only.
struct Heap {
  std::vector<std::uint64_t> words;
  std::vector<std::uint32_t> objects;  ///< first word of each, ascending
  std::vector<std::uint32_t> roots;    ///< first words: from here all that lives can be reached
};

constexpr bool is_reference(std::uint64_t field) { return field != 0 && field % 2 == 0; }
constexpr std::uint32_t target_of(std::uint64_t field) {
  return static_cast<std::uint32_t>(field / 8);
}
constexpr std::uint32_t words_of(std::uint64_t header) {
  return static_cast<std::uint32_t>(header);
}

/// The mean object has 8 words, the sum is never beyond this.
constexpr std::uint64_t min_heap_words(std::uint64_t objects) { return 12 * objects + 64; }

/// Precondition: as the fields say; words >= least_heap_words(objects), near_objects >= 2.
Heap make_heap(const HeapSpec& spec, Rng& rng);

/// For each of heap.objects: can be reached from the roots.
std::vector<bool> living(const Heap& heap);

}  // namespace raddle::workloads
