// Matching of short strings against a suffix tree. See README.md.
#include "common/cuda_lite.h"
#include "mum/layout.h"

// What is found at a position: a node, and how far along the edge to it.
struct Match {
  unsigned node;
  short along;
};

// All four words at once, as a texture gives them, whichever are used.
static __device__ __forceinline__ uint4 fetch(const uint4* table, unsigned place) {
  const uint4* from = table + ((place >> 16) * kNodesInRow + (place & 0xffff));
  uint4 entry;
  __asm__ volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(entry.x), "=r"(entry.y), "=r"(entry.z), "=r"(entry.w)
                   : "l"(from));
  return entry;
}

static __device__ __forceinline__ unsigned child(uint4 children, int letter) {
  switch (letter) {
    case 'A':
      return children.x;
    case 'C':
      return children.y;
    case 'G':
      return children.z;
    case 'T':
      return children.w;
    default:
      return kNoPlace;
  }
}

static __device__ __forceinline__ char letter_at(const char* reference, int position) {
  unsigned p = static_cast<unsigned>(position), rows = kLetterRows * kLettersInRow;
  unsigned row = p / rows * kLetterRows + p % kLetterRows;
  return reference[static_cast<int>(row * kLettersInRow + p % rows / kLetterRows)];
}

static __device__ __forceinline__ unsigned number_of(unsigned place) {
  unsigned column = place & 0xffff, row = place >> 16;
  return column * kNodeRows + row % kNodeRows + row / kNodeRows * (kNodesInRow * kNodeRows);
}

static __device__ __forceinline__ void report(Match* match, unsigned place, int along) {
  match->node = number_of(place);
  match->along = static_cast<short>(along);
}

struct Tree {
  const uint4* nodes;
  const uint4* children;
  const char* reference;
};

// A walk. At a new start, the suffix link of the last inner node tells where its string without the
// first letter is; of what lies beyond it `known` letters are in the tree.
struct Walk {
  unsigned place = kNoPlace;
  int next = 0;  // index in the query of the letter to match next; 1 is the first
  int known = 0;
};

// Letter by letter to the end of the edge or of the query; false where they differ.
static __device__ __forceinline__ bool same_to_end(const Tree& tree, Walk& walk,
                                                   const char* letters, char& letter, int& position,
                                                   int edge_end) {
  while (position <= edge_end && letter != 0) {
    if (letter_at(tree.reference, position) != letter) return false;
    ++walk.next;
    ++position;
    letter = letters[walk.next];
  }
  return true;
}

// From one start to where it ends, which is told when `least` letters match; back to the suffix
// link. Both ends report for themselves, as in the published program: lanes that end at different
// letters meet again at the suffix link only.
static __device__ __forceinline__ unsigned follow(const Tree& tree, Walk& walk, const char* letters,
                                                  Match* match, int least) {
  unsigned inner = kNoPlace;
  int position = 0, edge_begin = 0;
  char letter = letters[walk.next];
  while (letter != 0) {
    inner = walk.place;
    walk.place = child(fetch(tree.children, inner), letter);
    if (walk.place == kNoPlace) {
      if (walk.next > least) report(match, inner, 0);
      walk.known = 0;
      walk.next -= 1;
      return inner;
    }
    uint4 node = fetch(tree.nodes, walk.place);
    int edge_end = static_cast<int>(node.y);
    edge_begin = static_cast<int>(node.x);
    int edge_length = edge_end - edge_begin + 1;
    if (walk.known == 0) {
      walk.next += 1;
      position = edge_begin + 1;
    } else if (walk.known >= edge_length) {
      walk.next += edge_length;
      position = edge_end + 1;
      walk.known -= edge_length;
    } else {
      walk.next += walk.known;
      position = edge_begin + walk.known;
      walk.known = 0;
    }
    letter = letters[walk.next];
    if (!same_to_end(tree, walk, letters, letter, position, edge_end)) break;
  }
  walk.known = position - edge_begin;
  if (walk.next > least) report(match, walk.place, walk.known);
  walk.next -= walk.known + 1;
  return inner;
}

// One thread per query, one start in it after the other.
extern "C" __global__ void mum_match(Match* matches, const char* queries, const int* begins,
                                     const int* lengths, int count, int least, const uint4* nodes,
                                     const uint4* children, const char* reference) {
  int query = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (query >= count) return;
  int last = lengths[query] - least;
  int begin = begins[query];
  const char* letters = queries + begin;
  Match* match = matches + (begin - query * (least + 1));
  const Tree tree = {nodes, children, reference};
  Walk walk;
  for (int start = 0; start <= last; ++start, ++match, ++letters) {
    if (walk.place == kNoPlace || walk.next < 1) walk = {kRootPlace, 1, 0};
    unsigned inner = follow(tree, walk, letters, match, least);
    walk.place = fetch(nodes, inner).w;
  }
}
